// How many compute threads a process may use, and why.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bertft {

// What one process may use of the processors of its node.
struct CpuShare {
  std::vector<int> cores;       // its affinity mask, ascending
  std::vector<int> reachable;   // what the mask could be widened to: cores that whoever started it took away, too
  std::optional<double> quota;  // cores' worth of time that its control groups (v2 or v1) allow; none without limit
};

// Of this process. An unreadable control-group file counts as no quota. Call it before other threads are started: the
// mask is widened and set back to see what is reachable.
CpuShare own_cpu_share();

// Cores of this process's affinity mask.
int usable_cores();

struct ThreadCount {
  int count = 1;
  std::string reason;  // for the start-up table: "affinity mask of 2 cores", "CPU quota of 1.5 cores", "config"
};

// The threads of one of the processes of a job that share a node: the smaller of its cores, of which each is divided
// among those that may use it, and the quota, rounded down and divided among all of them; at least 1.
ThreadCount choose_threads(const std::vector<CpuShare>& of_node, size_t index);

// What is wrong with how the processes of a job on one node are bound: some have one core only while others idle that
// the quota would let them use. "" when nothing is.
std::string binding_fault(const std::vector<CpuShare>& of_node);

// Part of own_cpu_share: the tightest quota in cores on the way from this process's control groups, listed in
// `membership` (the text of /proc/self/cgroup), up to the root of the hierarchy mounted at `mount`; none without limit.
std::optional<double> cpu_quota(const std::string& membership, const std::string& mount);

// "1 core", "1.5 cores".
std::string cores_text(double cores);

}  // namespace bertft
