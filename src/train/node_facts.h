// What `check` tells of the nodes of a job: their cores, memory, devices, versions, network, and what of the job's
// files can be seen from each.
#pragma once

#include <string>
#include <vector>

#include "comm/world.h"
#include "config/run_config.h"
#include "core/threads.h"
#include "train/ranks.h"

namespace bertft {

// What one rank knows of its node, without its share of cores. Reads /proc and asks for the places of the
// configuration; writes nothing.
Facts node_facts(RunConfig& config, const World& world);

struct NodeReport {
  std::string host;
  std::vector<int> ranks;
  Facts facts;  // cores and quota of all its ranks, then what its lowest rank knows
};

// In the order of nodes. `shares` and `facts`: of all ranks, in rank order.
std::vector<NodeReport> node_reports(const World& world, const std::vector<CpuShare>& shares,
                                     const std::vector<Facts>& facts);

// "0-3, 8".
std::string ranges_text(const std::vector<int>& numbers);

// The mount that a path lies in, by the text of /proc/self/mountinfo: "nfs4 nas:/export". "unknown" when there is none.
std::string mount_text(const std::string& mountinfo, const std::string& path);

}  // namespace bertft
