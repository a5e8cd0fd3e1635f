// Ranks of a benchmark as processes of this machine that a parent forks, without a launcher.
#pragma once

#include <functional>

#include "comm/bootstrap.h"

namespace bertft::bench {

constexpr int kMostForkedRanks = 64;

// Runs body() in `ranks` processes, each with its own bootstrap; returns the number of those that failed.
int run_forked(int ranks, const std::function<void(Bootstrap&)>& body);

}  // namespace bertft::bench
