// What a benchmark says: a table for people, JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "bench/bench_run.h"
#include "bench/payload.h"
#include "comm/world.h"

namespace bertft {

struct Spread {
  double median = 0.0, min = 0.0, max = 0.0;
};
// REQUIRES at least one value. The median of an even number of values is the mean of the two in the middle.
Spread spread_of(std::vector<double> values);

// Bandwidth as nccl-tests count it, in bytes per second: bytes / time, and that times 2 (n - 1) / n.
double algorithm_bandwidth(int64_t bytes, double seconds);
double bus_bandwidth(int64_t bytes, double seconds, int ranks);

// One line for the head of all tables: ranks, nodes, repeats, steps, emulated compute.
std::string bench_headline(const World& world, const BenchSettings& settings);

// The table of one payload, lines ended by \n. Bandwidths are left out where compute is emulated, counts where they are
// not known.
std::string bench_table(const Payload& payload, const std::vector<ModeResult>& modes, const World& world,
                        const BenchSettings& settings);

struct BenchResult {
  Payload payload;
  std::vector<ModeResult> modes;
};
// Everything that was measured, of every rank, as one JSON object. Seconds and bytes; docs/comm-bench.md has the
// members.
std::string bench_json(const std::vector<BenchResult>& results, const World& world, const BenchSettings& settings);

}  // namespace bertft
