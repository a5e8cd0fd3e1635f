// What the ranks of a job find when each of them checks it: one report, in which what all of them found stands once and
// everything else with the ranks that have it.
#pragma once

#include <string>
#include <vector>

#include "train/check_run.h"
#include "train/node_facts.h"
#include "train/ranks.h"

namespace bertft {

// What one rank contributes.
struct RankCheck {
  CheckReport report;
  CpuShare share;
  Facts node;
};

struct JobCheck {
  CheckReport report;  // merged: differences between ranks are faults of the subject "ranks"
  std::vector<NodeReport> nodes;
};

// Collective; every rank gets the whole.
JobCheck merge_checks(const World& world, const GatherTexts& gather, const RankCheck& mine);

// The merging itself, of all ranks in rank order. Not collective.
JobCheck merge_checks(const World& world, const std::vector<RankCheck>& ranks);

}  // namespace bertft
