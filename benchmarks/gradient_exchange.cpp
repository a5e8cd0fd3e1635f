// How long a transport takes to sum the gradients of a model over the processes of this machine: native through shared
// memory for ranks of one node, TCP over loopback between "nodes"; mpi through whatever MPI chooses. Every element is
// verified after the last exchange.
//
//   bench_gradient_exchange [--ranks 2] [--nodes 1] [--mb 438] [--unit-mb 4] [--lanes 1] [--repeats 15] [--wire fp32]
//                           [--flat] [--inline]
//   mpirun -np 2 bench_gradient_exchange --transport mpi [the same but --ranks and --inline]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "comm/launcher.h"
#include "comm/mpi/mpi_transport.h"
#include "comm/native/native_transport.h"
#include "comm/start.h"
#include "core/error.h"
#include "core/timer.h"
#include "forked_ranks.h"

namespace bertft {
namespace {

struct Setup {
  int ranks = 2;
  int nodes = 1;
  int64_t megabytes = 438;
  int64_t unit_megabytes = 4;
  int lanes = 1;
  int repeats = 15;
  WireType wire = WireType::kFp32;
  bool is_flat = false;
  bool is_inline = false;
  std::string transport = "native";
};

// Small integers: their sums are exact in every wire and order.
float value_of(int rank, int64_t i) { return static_cast<float>((i + rank * 7) % 64); }

void exchange(Transport& transport, const Setup& setup, int64_t elements) {
  const int64_t unit = setup.unit_megabytes << 18;
  const auto run_lane = [&](int lane) {
    int64_t i = 0;
    for (int64_t begin = 0; begin < elements; begin += unit, ++i) {
      if (i % setup.lanes != lane) continue;
      ReduceJob job;
      job.range = {begin, std::min(begin + unit, elements)};
      job.wire = setup.wire;
      if (setup.is_inline) {
        transport.post(lane, job);
        transport.progress(lane);
      } else {
        transport.all_reduce(lane, job);
      }
    }
    if (setup.is_inline) transport.wait_posted(lane);
  };
  std::vector<std::thread> threads;
  for (int lane = 1; lane < setup.lanes; ++lane) {
    threads.emplace_back(run_lane, lane);
  }
  run_lane(0);
  for (std::thread& thread : threads) {
    thread.join();
  }
}

template <typename Options>
Options options_of(const Bootstrap& bootstrap, const Setup& setup) {
  Options options;
  options.node = fmt::format("node {}", bootstrap.rank() * setup.nodes / setup.ranks);
  options.lanes = setup.lanes;
  options.is_hierarchical = !setup.is_flat;
  if (setup.nodes > 1) options.interface = "lo";
  return options;
}

void run_rank(Bootstrap& bootstrap, const Setup& setup) {
  const auto transport = setup.transport == "mpi"
                             ? make_mpi_transport(bootstrap, options_of<MpiOptions>(bootstrap, setup))
                             : make_native_transport(bootstrap, options_of<NativeOptions>(bootstrap, setup));
  const int64_t elements = setup.megabytes * 1000000 / 4;
  GradientBuffer buffer(elements, sizeof(float), GradientMemory::kShared);
  const auto* sums = static_cast<const float*>(transport->attach(buffer, {}));
  auto* values = static_cast<float*>(buffer.data());
  std::vector<double> seconds;
  for (int repeat = 0; repeat < setup.repeats + 2; ++repeat) {
    for (int64_t i = 0; i < elements; ++i) {
      values[i] = value_of(bootstrap.rank(), i);
    }
    transport->barrier();
    const Timer timer;
    exchange(*transport, setup, elements);
    if (repeat >= 2) seconds.push_back(timer.seconds());
  }
  for (int64_t i = 0; i < elements; ++i) {
    float wanted = 0.0f;
    for (int rank = 0; rank < setup.ranks; ++rank) {
      wanted += value_of(rank, i);
    }
    check(sums[i] == wanted, "a wrong sum");
  }
  std::sort(seconds.begin(), seconds.end());
  if (bootstrap.rank() == 0) {
    const double median = seconds[seconds.size() / 2];
    const double share = 2.0 * (setup.ranks - 1) / setup.ranks;
    fmt::print(
        "{}: {} ranks, {} node(s), {} MB, units of {} MiB, {} lane(s), {}{}{}: median {:.1f} ms, {:.1f}..{:.1f}, bus "
        "{:.1f} GB/s, all sums right\n",
        setup.transport, setup.ranks, setup.nodes, setup.megabytes, setup.unit_megabytes, setup.lanes,
        wire_type_name(setup.wire), setup.is_flat ? ", flat" : "", setup.is_inline ? ", inline" : "", 1e3 * median,
        1e3 * seconds.front(), 1e3 * seconds.back(), static_cast<double>(elements) * 4e-9 * share / median);
  }
  transport->close();
}

Setup parse(int count, char** words) {
  Setup setup;
  for (int i = 1; i < count; ++i) {
    const std::string key = words[i];
    if (key == "--flat") {
      setup.is_flat = true;
      continue;
    }
    if (key == "--inline") {
      setup.is_inline = true;
      continue;
    }
    if (i + 1 == count) throw ConfigError(key + ": a value is missing");
    const std::string value = words[++i];
    if (key == "--wire") {
      const auto is_named = [&](WireType type) { return value == wire_type_name(type); };
      const std::vector<WireType> all = {WireType::kFp32, WireType::kFp16, WireType::kBf16, WireType::kMixed};
      const auto found = std::find_if(all.begin(), all.end(), is_named);
      if (found == all.end()) throw ConfigError("--wire: fp32, fp16, bf16 or mixed");
      setup.wire = *found;
      continue;
    }
    if (key == "--transport") {
      if (value != "native" && value != "mpi") throw ConfigError("--transport: native or mpi");
      setup.transport = value;
      continue;
    }
    const int number = std::atoi(value.c_str());
    if (number < 1) throw ConfigError(key + ": a positive number");
    if (key == "--ranks") setup.ranks = std::min(number, bench::kMostForkedRanks);
    if (key == "--nodes") setup.nodes = number;
    if (key == "--mb") setup.megabytes = number;
    if (key == "--unit-mb") setup.unit_megabytes = number;
    if (key == "--lanes") setup.lanes = number;
    if (key == "--repeats") setup.repeats = number;
  }
  return setup;
}

int run_launched(Setup setup) {
  const std::unique_ptr<Bootstrap> bootstrap = start_bootstrap();
  setup.ranks = bootstrap->size();
  run_rank(*bootstrap, setup);
  bootstrap->finish();
  return 0;
}

}  // namespace
}  // namespace bertft

int main(int count, char** words) {
  try {
    const bertft::Setup setup = bertft::parse(count, words);
    if (bertft::is_launched()) return bertft::run_launched(setup);
    return bertft::bench::run_forked(setup.ranks, [&](bertft::Bootstrap& bootstrap) { run_rank(bootstrap, setup); });
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
