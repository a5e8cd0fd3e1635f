// Where the time of an exchange of gradients over shared memory goes: the same bytes summed by a plain loop that is
// bound by memory, by the native transport alone, and by the whole communicator, in turns, so that what else the
// machine does meets all of them alike. Read the least times and their ratios; the processor time of a step hardly
// depends on other programs.
//
//   bench_exchange_layers [--ranks 2] [--shapes bert-base] [--steps 30]
//   mpirun -np 2 bench_exchange_layers [the same but --ranks]     (the transport over MPI and MPI_Allreduce, too)
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/payload.h"
#include "comm/launcher.h"
#include "comm/make_communicator.h"
#include "comm/mpi/mpi_transport.h"
#include "comm/mpi/plain_allreduce.h"
#include "comm/native/native_transport.h"
#include "comm/start.h"
#include "comm/world.h"
#include "core/error.h"
#include "core/timer.h"
#include "forked_ranks.h"

namespace bertft {
namespace {

struct Setup {
  int ranks = 2;
  std::string shapes = "bert-base";
  int steps = 30;
};

// Small integers: their sums are exact in every order.
float value_of(int rank, int64_t i, int64_t step) { return static_cast<float>((i + rank * 7 + step) & 63); }

double processor_s() {
  timespec now = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// One way of summing, and what it took.
class Layer {
 public:
  Layer(std::string name, std::function<void(int64_t step)> sum) : name_(std::move(name)), sum_(std::move(sum)) {}

  void measure(int64_t step) {
    const double used = processor_s();
    const Timer timer;
    sum_(step);
    wall_s_.push_back(timer.seconds());
    processor_s_.push_back(processor_s() - used);
  }

  void forget() {
    wall_s_.clear();
    processor_s_.clear();
  }

  // Of the rank that took longest, step by step.
  void report(Bootstrap& bootstrap) const {
    const std::vector<double> wall = slowest(bootstrap, wall_s_), used = slowest(bootstrap, processor_s_);
    if (bootstrap.rank() != 0) return;
    fmt::print("{:<28}{:>10.1f}{:>10.1f}{:>10.1f}{:>14.1f}{:>10.1f}\n", name_, 1e3 * quantile(wall, 0.0),
               1e3 * quantile(wall, 0.25), 1e3 * quantile(wall, 0.5), 1e3 * quantile(used, 0.0),
               1e3 * quantile(used, 0.5));
  }

 private:
  static std::vector<double> slowest(Bootstrap& bootstrap, const std::vector<double>& mine) {
    std::vector<double> result(mine.size(), 0.0);
    std::string bytes(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(double));
    for (const std::string& theirs : bootstrap.all_gather(bytes)) {
      const auto* values = reinterpret_cast<const double*>(theirs.data());
      for (size_t i = 0; i < result.size(); ++i) result[i] = std::max(result[i], values[i]);
    }
    std::sort(result.begin(), result.end());
    return result;
  }
  static double quantile(const std::vector<double>& sorted, double share) {
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
  }

  std::string name_;
  std::function<void(int64_t)> sum_;
  std::vector<double> wall_s_, processor_s_;
};

// This rank's share of a sum of two buffers into both.
void sum_plainly(float* a, float* b, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const float sum = a[i] + b[i];
    a[i] = sum;
    b[i] = sum;
  }
}

void run_rank(Bootstrap& bootstrap, const Setup& setup) {
  const World world = find_world(bootstrap);
  const Layout layout = make_layout(model_payload(setup.shapes).tensors, unit_elements({}));
  GradientBuffer buffer(layout.trainable_total, sizeof(float), GradientMemory::kShared);
  auto* values = static_cast<float*>(buffer.data());
  const int64_t elements = layout.trainable_total;

  // The plain loop has private memory: the same traffic without a peer.
  std::vector<float> first(static_cast<size_t>(elements / setup.ranks)), second(first.size());
  NativeOptions options;
  const auto transport = make_native_transport(bootstrap, options);
  const void* transport_sums = transport->attach(buffer, WireMap(layout));

  std::vector<Layer> layers;
  std::vector<const void*> sums;
  layers.emplace_back(
      "plain loop", [&](int64_t) { sum_plainly(first.data(), second.data(), 0, static_cast<int64_t>(first.size())); });
  sums.push_back(nullptr);
  layers.emplace_back("transport, inline", [&](int64_t step) {
    for (const LayoutUnit& unit : layout.units) {
      ReduceJob job;
      job.range = {unit.begin, unit.end};
      job.step = step;
      transport->post(0, job);
      transport->progress(0);
    }
    transport->wait_posted(0);
  });
  sums.push_back(transport_sums);
  std::unique_ptr<Transport> mpi;
  if (is_launched() && has_plain_allreduce()) {
    mpi = make_mpi_transport(bootstrap, {});
    const void* mpi_sums = mpi->attach(buffer, WireMap(layout));
    layers.emplace_back("mpi transport", [&](int64_t step) {
      for (const LayoutUnit& unit : layout.units) {
        ReduceJob job;
        job.range = {unit.begin, unit.end};
        job.step = step;
        mpi->all_reduce(0, job);
      }
    });
    sums.push_back(mpi_sums);
    layers.emplace_back("MPI_Allreduce, units", [&](int64_t) {
      for (const LayoutUnit& unit : layout.units) plain_allreduce(values + unit.begin, unit.end - unit.begin);
    });
    sums.push_back(values);
    layers.emplace_back("MPI_Allreduce, whole", [&](int64_t) { plain_allreduce(values, elements); });
    sums.push_back(values);
  }
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (const std::string negotiate : {"bitvector", "static"}) {
    for (const bool is_inline : {true, false}) {
      CommOptions comm;
      comm.negotiate = negotiate;
      communicators.push_back(make_communicator(comm, layout, world, bootstrap, buffer, is_inline));
      Communicator& communicator = *communicators.back();
      layers.emplace_back(negotiate + (is_inline ? ", inline" : ", lane thread"), [&](int64_t step) {
        communicator.step_begin(step);
        for (int unit = 0; unit < static_cast<int>(layout.units.size()); ++unit) communicator.mark_ready(unit);
        communicator.finish();
      });
      sums.push_back(communicator.sums());
    }
  }

  constexpr int kWarmUpSteps = 5;
  for (int64_t step = 1; step <= kWarmUpSteps + setup.steps; ++step) {
    if (step == kWarmUpSteps + 1) {
      for (Layer& layer : layers) layer.forget();
    }
    for (size_t i = 0; i < layers.size(); ++i) {
      for (int64_t at = 0; at < elements; ++at) values[at] = value_of(world.rank, at, step);
      transport->barrier();
      layers[i].measure(step);
      transport->barrier();
      const auto* found = static_cast<const float*>(sums[i]);
      for (int64_t at = 0; found != nullptr && at < elements; ++at) {
        float wanted = 0.0f;
        for (int rank = 0; rank < world.size; ++rank) wanted += value_of(rank, at, step);
        check(found[at] == wanted, "a wrong sum");
      }
      transport->barrier();
    }
  }
  if (world.rank == 0) {
    fmt::print("{} ranks, {}: {} bytes, {} units, {} steps each; ms\n", world.size, setup.shapes, elements * 4,
               layout.units.size(), setup.steps);
    fmt::print("{:<28}{:>10}{:>10}{:>10}{:>14}{:>10}\n", "", "least", "quarter", "median", "cpu: least", "median");
  }
  for (const Layer& layer : layers) layer.report(bootstrap);
  for (auto& communicator : communicators) communicator->close();
  if (mpi) mpi->close();
  transport->close();
}

Setup parse(int count, char** words) {
  Setup setup;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string key = words[i], value = words[i + 1];
    if (key == "--shapes") {
      setup.shapes = value;
    } else if (key == "--ranks" && std::atoi(value.c_str()) >= 2) {
      setup.ranks = std::min(std::atoi(value.c_str()), bench::kMostForkedRanks);
    } else if (key == "--steps" && std::atoi(value.c_str()) >= 1) {
      setup.steps = std::atoi(value.c_str());
    } else {
      throw ConfigError(key + " " + value + ": --ranks, --steps (numbers) or --shapes (a name)");
    }
  }
  return setup;
}

}  // namespace
}  // namespace bertft

int main(int count, char** words) {
  try {
    bertft::Setup setup = bertft::parse(count, words);
    if (bertft::is_launched()) {
      const std::unique_ptr<bertft::Bootstrap> bootstrap = bertft::start_bootstrap();
      setup.ranks = bootstrap->size();
      run_rank(*bootstrap, setup);
      bootstrap->finish();
      return 0;
    }
    return bertft::bench::run_forked(setup.ranks, [&](bertft::Bootstrap& bootstrap) { run_rank(bootstrap, setup); });
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
