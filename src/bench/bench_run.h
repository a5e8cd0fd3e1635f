// The measurement: all modes in turn, several times over, every sum of every step verified outside the measured time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/backward_clock.h"
#include "bench/bench_mode.h"
#include "bench/exchange.h"
#include "bench/payload.h"

namespace bertft {

struct BenchSettings {
  int repeats = 3;  // times that each mode is opened, warmed up, measured and closed, all modes in turn
  int steps = 10;   // measured steps of each time
  double compute_s = 0.0;
  ComputeKind compute = ComputeKind::kBusy;
};

// Steps before the measured ones, verified, too: the static order is frozen by then, caches are filled, memory mapped.
constexpr int kWarmUpSteps = 5;

// Of one rank in all measured steps of a mode. `counted` are the sums over these steps, times included.
struct RankMeasure {
  std::vector<double> step_s;     // from the barrier before the step until all sums are there
  std::vector<double> exposed_s;  // of it, waited at the end
  Counters counted;
};

struct ModeResult {
  std::string name;
  std::string wire;
  std::string description = {};
  int units = 0;  // that the payload is cut into; without a meaning where there are no counts
  bool has_counts = true;
  std::vector<RankMeasure> ranks = {};  // [world.size], the same number of steps each

  int steps() const { return static_cast<int>(ranks.front().step_s.size()); }
  std::vector<double> step_s() const;     // per step, of the slowest rank
  std::vector<double> exposed_s() const;  // per step, of the rank that waited longest
  // The largest over the ranks of a counter, a step.
  double most_per_step(int64_t Counters::*counter) const;
  double most_per_step_s(double Counters::*seconds) const;
};

using OpenExchange = std::function<std::unique_ptr<Exchange>(const BenchMode&, const Layout&, const GradientBuffer&)>;

// Collective; the results are those of all ranks, on every rank. Throws alike on all ranks, with exit code 4, when any
// of them finds a wrong sum: mode, payload, step, rank, element, value. `open`: open_exchange() but in tests.
std::vector<ModeResult> run_bench(const Payload& payload, const std::vector<BenchMode>& modes,
                                  const BenchSettings& settings, const World& world, Bootstrap& bootstrap,
                                  const OpenExchange& open);

}  // namespace bertft
