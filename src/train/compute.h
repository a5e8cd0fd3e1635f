// What the ranks of a job compute with: the device, threads and kernels that all of them have, agreed before the first
// tensor operation, because each of them can change the order of sums.
#pragma once

#include <string>
#include <vector>

#include "comm/world.h"
#include "core/cpu_features.h"
#include "core/threads.h"
#include "ops/cpu_environment.h"
#include "train/options.h"
#include "train/ranks.h"

namespace bertft {

struct ComputeSettings {
  int threads = 1;
  std::string threads_reason;
  std::string kernels_reason;  // whose processor lowered the instruction set of the job; "" when it offers no more
  ops::CpuEnvironment cpu;
};

// Collective. Throws alike: ConfigError for a device that is not there, CommError for settings that reached only some
// ranks (`threads`, BERTFT_PRODUCTS, MKL_CBWR). `threads: auto` is the smallest share of any rank (core/threads.h) and
// the instruction set the lowest, since the slowest rank sets the pace of all. Warns of ranks that are bound to one
// core for no reason, and of an OMP_NUM_THREADS that is not used. Then prepares the CPU (ops/cpu_environment.h); call
// it once, before the first tensor operation.
ComputeSettings prepare_compute(const RunOptions& options, const World& world, const GatherTexts& gather);

// For a process that was started alone.
ComputeSettings prepare_compute(const RunOptions& options);

// The part of it that only counts: the smallest number of threads of any rank, and the reason that it has; `shares` of
// all ranks, in rank order.
ThreadCount agreed_threads(const World& world, const std::vector<CpuShare>& shares);

}  // namespace bertft
