#include "core/threads.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace bertft {
namespace {

int affinity_count() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  return std::max(1, CPU_COUNT(&mask));
}

std::optional<double> positive_ratio(double quota, double period) {
  if (!(quota > 0.0 && period > 0.0)) return std::nullopt;
  return quota / period;
}

// Cores allowed by one control group folder, from cpu.max (v2) or cpu.cfs_quota_us (v1).
std::optional<double> quota_of(const std::string& folder) {
  std::ifstream v2(folder + "/cpu.max");
  std::string quota_text;
  double period = 0;
  if (v2 >> quota_text >> period) return positive_ratio(std::atof(quota_text.c_str()), period);  // "max" reads as 0
  std::ifstream v1_quota(folder + "/cpu.cfs_quota_us");
  std::ifstream v1_period(folder + "/cpu.cfs_period_us");
  double quota = 0;
  if (v1_quota >> quota && v1_period >> period) return positive_ratio(quota, period);  // -1: no limit
  return std::nullopt;
}

// The tightest quota of `group` ("/a/b"), its parents and `root` itself.
std::optional<double> tightest_quota(const std::string& root, std::string group) {
  std::optional<double> tightest;
  while (true) {
    const std::optional<double> quota = quota_of(root + group);
    if (quota && (!tightest || *quota < *tightest)) tightest = quota;
    const size_t parent = group.find_last_of('/');
    if (parent == std::string::npos) return tightest;
    group.resize(parent);
  }
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::optional<double> cpu_quota(const std::string& membership, const std::string& mount) {
  std::optional<double> tightest;
  const auto visit = [&](const std::string& root, const std::string& group) {
    const std::optional<double> quota = tightest_quota(root, group);
    if (quota && (!tightest || *quota < *tightest)) tightest = quota;
  };
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // "0::/group" (v2) or "4:cpu,cpuacct:/group" (v1)
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) visit(mount, group);
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) {
      if (name == "cpu") visit(mount + "/cpu", group);
    }
  }
  return tightest;
}

ThreadCount choose_threads(int affinity_count, std::optional<double> quota, int local_ranks) {
  ThreadCount result{affinity_count, fmt::format("affinity mask {}", affinity_count)};
  if (quota && std::floor(*quota) < affinity_count) {
    result = {std::max(1, static_cast<int>(std::floor(*quota))), fmt::format("CPU quota {:g}", *quota)};
  }
  if (local_ranks > 1) {
    result.count = std::max(1, result.count / local_ranks);
    result.reason += fmt::format(", {} ranks on this machine", local_ranks);
  }
  return result;
}

ThreadCount available_threads(int local_ranks) {
  return choose_threads(affinity_count(), cpu_quota(text_of("/proc/self/cgroup"), "/sys/fs/cgroup"), local_ranks);
}

}  // namespace bertft
