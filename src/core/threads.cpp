#include "core/threads.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
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

// Cores allowed by one control group folder, from cpu.max (v2) or cpu.cfs_quota_us (v1).
std::optional<double> quota_of(const std::string& folder) {
  std::ifstream v2(folder + "/cpu.max");
  std::string quota_text;
  double period = 0;
  if (v2 >> quota_text >> period) {
    if (quota_text == "max" || period <= 0) return std::nullopt;
    return std::atof(quota_text.c_str()) / period;
  }
  std::ifstream v1_quota(folder + "/cpu.cfs_quota_us");
  std::ifstream v1_period(folder + "/cpu.cfs_period_us");
  double quota = 0;
  if (v1_quota >> quota && v1_period >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

// The tightest quota on the path from this process's control group up to the root.
std::optional<double> tightest_quota() {
  std::optional<double> tightest;
  const auto visit = [&](const std::string& root, std::string group) {
    while (true) {
      const std::optional<double> quota = quota_of(root + group);
      if (quota && (!tightest || *quota < *tightest)) tightest = quota;
      if (group.empty() || group == "/") break;
      group.resize(group.find_last_of('/'));
    }
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) visit("/sys/fs/cgroup", group);
    std::stringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) {
      if (name == "cpu") visit("/sys/fs/cgroup/cpu", group);
    }
  }
  return tightest;
}

}  // namespace

ThreadCount available_threads(int local_ranks) {
  const int by_mask = affinity_count();
  ThreadCount result{by_mask, fmt::format("affinity mask {}", by_mask)};
  const std::optional<double> quota = tightest_quota();
  if (quota && std::floor(*quota) < by_mask) {
    result = {std::max(1, static_cast<int>(std::floor(*quota))), fmt::format("CPU quota {:g}", *quota)};
  }
  if (local_ranks > 1) {
    result.count = std::max(1, result.count / local_ranks);
    result.reason += fmt::format(", {} ranks on this machine", local_ranks);
  }
  return result;
}

}  // namespace bertft
