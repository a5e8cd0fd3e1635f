// How many compute threads a process may use, and why.
#pragma once

#include <string>

namespace bertft {

struct ThreadCount {
  int count = 1;
  std::string reason;  // for the start-up table: "affinity mask 2", "CPU quota 1.5", "config"
};

// The smaller of affinity mask and control-group CPU quota (v2 or v1; the quota rounded down), divided among
// `local_ranks` processes of this machine, at least 1. An unreadable control-group file counts as no quota.
ThreadCount available_threads(int local_ranks);

}  // namespace bertft
