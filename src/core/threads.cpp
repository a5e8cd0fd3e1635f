#include "core/threads.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>

namespace bertft {
namespace {

constexpr int kMostCores = 1 << 16;

// A set of cores as the system calls take it.
class CoreSet {
 public:
  explicit CoreSet(int cores) : cores_(cores), set_(CPU_ALLOC(cores)), bytes_(CPU_ALLOC_SIZE(cores)) {
    CPU_ZERO_S(bytes_, set_);
  }
  ~CoreSet() { CPU_FREE(set_); }
  CoreSet(const CoreSet&) = delete;
  CoreSet& operator=(const CoreSet&) = delete;

  // Of the calling thread. False when the set is too small for this machine, or the call not allowed.
  bool read() { return sched_getaffinity(0, bytes_, set_) == 0; }
  bool apply() const { return sched_setaffinity(0, bytes_, set_) == 0; }
  void fill() {
    for (int core = 0; core < cores_; ++core) CPU_SET_S(core, bytes_, set_);
  }
  std::vector<int> cores() const {
    std::vector<int> found;
    for (int core = 0; core < cores_; ++core) {
      if (CPU_ISSET_S(core, bytes_, set_)) found.push_back(core);
    }
    return found;
  }

 private:
  int cores_;
  cpu_set_t* set_;
  size_t bytes_;
};

// The mask of the calling thread, and what it becomes when all cores are asked for: the system leaves out those that
// the control groups do not allow.
void read_masks(CpuShare& share) {
  for (int cores = CPU_SETSIZE; cores <= kMostCores; cores *= 2) {
    CoreSet mine(cores);
    if (!mine.read()) continue;
    share.cores = mine.cores();
    CoreSet all(cores);
    all.fill();
    if (all.apply() && all.read()) share.reachable = all.cores();
    mine.apply();
    break;
  }
  if (share.cores.empty()) share.cores = {0};
  if (share.reachable.empty()) share.reachable = share.cores;
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

std::optional<double> quota_of_node(const std::vector<CpuShare>& shares) {
  std::optional<double> tightest;
  for (const CpuShare& share : shares) {
    if (share.quota && (!tightest || *share.quota < *tightest)) tightest = share.quota;
  }
  return tightest;
}

bool has_core(const std::vector<int>& cores, int core) { return std::binary_search(cores.begin(), cores.end(), core); }

int64_t users_of(int core, const std::vector<CpuShare>& shares) {
  return std::count_if(shares.begin(), shares.end(),
                       [&](const CpuShare& share) { return has_core(share.cores, core); });
}

bool have_common_core(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int core) { return has_core(b, core); });
}

constexpr double kRounding = 1e-9;  // a sum of thirds is a whole number

int whole(double cores) { return std::max(1, static_cast<int>(std::floor(cores + kRounding))); }

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
    if (controllers.empty()) {
      visit(mount, group);
      visit(mount + "/unified", group);  // beside hierarchies of version 1
    }
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) {
      if (name != "cpu") continue;
      visit(mount + "/cpu", group);
      if (controllers != "cpu") visit(mount + "/" + controllers, group);  // where /cpu is no link to it
    }
  }
  return tightest;
}

std::string cores_text(double cores) { return fmt::format("{:g} core{}", cores, cores == 1.0 ? "" : "s"); }

CpuShare own_cpu_share() {
  CpuShare share;
  read_masks(share);
  share.quota = cpu_quota(text_of("/proc/self/cgroup"), "/sys/fs/cgroup");
  return share;
}

int usable_cores() {
  CoreSet mask(kMostCores);
  return mask.read() ? static_cast<int>(mask.cores().size()) : 1;
}

ThreadCount choose_threads(const std::vector<CpuShare>& of_node, size_t index) {
  const std::vector<int>& mine = of_node.at(index).cores;
  double cores = 0.0;
  size_t sharing = 1;  // processes whose masks overlap with this one
  for (const int core : mine) cores += 1.0 / static_cast<double>(users_of(core, of_node));
  for (size_t other = 0; other < of_node.size(); ++other) {
    if (other != index && have_common_core(mine, of_node[other].cores)) ++sharing;
  }
  ThreadCount result{whole(cores), "affinity mask of " + cores_text(static_cast<double>(mine.size()))};
  const std::optional<double> quota = quota_of_node(of_node);
  const double quota_share = quota ? std::floor(*quota) / static_cast<double>(of_node.size()) : cores;
  if (quota_share < cores - kRounding) {
    result = {whole(quota_share), "CPU quota of " + cores_text(*quota)};
    sharing = of_node.size();
  }
  if (sharing > 1) result.reason += fmt::format(" shared by {} ranks", sharing);
  return result;
}

std::string binding_fault(const std::vector<CpuShare>& of_node) {
  std::set<int> used;
  std::set<int> reachable;
  size_t bound_to_one = 0;
  for (const CpuShare& share : of_node) {
    used.insert(share.cores.begin(), share.cores.end());
    reachable.insert(share.reachable.begin(), share.reachable.end());
    if (share.cores.size() == 1) ++bound_to_one;
  }
  const size_t idle = reachable.size() - used.size();  // every mask is reachable
  const std::optional<double> quota = quota_of_node(of_node);
  const bool would_help = !quota || std::floor(*quota) > static_cast<double>(used.size());
  if (bound_to_one == 0 || idle == 0 || !would_help) return "";
  return fmt::format(
      "{} bound to one core while {} of {} idle",
      of_node.size() == 1 ? "the process is" : fmt::format("{} of {} processes are", bound_to_one, of_node.size()),
      idle, cores_text(static_cast<double>(reachable.size())));
}

}  // namespace bertft
