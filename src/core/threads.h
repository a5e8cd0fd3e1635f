// How many compute threads a process may use, and why.
#pragma once

#include <optional>
#include <string>

namespace bertft {

struct ThreadCount {
  int count = 1;
  std::string reason;  // for the start-up table: "affinity mask 2", "CPU quota 1.5", "config"
};

// The smaller of affinity mask and control-group CPU quota (v2 or v1; the quota rounded down), divided among
// `local_ranks` processes of this machine, at least 1. An unreadable control-group file counts as no quota.
ThreadCount available_threads(int local_ranks);

// The two steps of it. cpu_quota: the tightest quota in cores on the way from this process's control groups, listed in
// `membership` (the text of /proc/self/cgroup), up to the root of the hierarchy mounted at `mount`; none without limit.
std::optional<double> cpu_quota(const std::string& membership, const std::string& mount);
ThreadCount choose_threads(int affinity_count, std::optional<double> quota, int local_ranks);

}  // namespace bertft
