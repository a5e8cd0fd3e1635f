// The whole communicator over the nccl transport and the fake: units in any order, both ways of negotiating, several
// lanes. Sums come out right, and NCCL is called in one order on all ranks.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "comm/nccl/nccl_transport.h"
#include "comm/rank_communicator.h"
#include "tests/support/rank_threads.h"
#include "tests/support/test.h"
#include "tests/unit/comm/native/native_world.h"
#include "tests/unit/comm/nccl/nccl_world.h"

namespace bertft {
namespace {

constexpr int64_t kSteps = 8;  // static negotiation freezes the order after three equal ones

struct Case {
  std::vector<std::string> nodes;
  bool is_static = false;
  int lanes = 1;
  WireType wire = WireType::kFp32;
};

// Steps in which every rank has its units ready in an order of its own; static keeps to one order in all steps.
void train(Communicator& communicator, const Case& world, const Layout& layout, float* values) {
  std::vector<int> units(layout.units.size());
  for (size_t i = 0; i < units.size(); ++i) units[i] = static_cast<int>(units.size() - 1 - i);
  std::mt19937 random(static_cast<unsigned>(communicator.rank()));
  for (int64_t step = 0; step < kSteps; ++step) {
    if (!world.is_static) std::shuffle(units.begin(), units.end(), random);
    communicator.step_begin(step);
    for (int64_t i = 0; i < layout.total; ++i) values[i] = test::contribution(communicator.rank(), step, i);
    for (const int unit : units) communicator.mark_ready(unit);
    communicator.finish();
  }
}

std::vector<std::vector<float>> run_case(const Case& world, test::FakeCluster& cluster) {
  const Layout layout = make_layout(
      {{.name = "a", .shape = {40, 32}}, {.name = "b", .shape = {32}}, {.name = "c", .shape = {100, 32}}}, 512);
  REQUIRE(layout.units.size() > 8);
  std::vector<std::vector<float>> results(world.nodes.size());
  const auto errors = test::run_ranks(cluster.ranks(), [&](Bootstrap& bootstrap) {
    const int rank = bootstrap.rank();
    const auto functions = cluster.functions(rank);
    const std::shared_ptr<void> memory(functions->allocate_device(static_cast<size_t>(layout.total) * sizeof(float)),
                                       [functions](void* what) { functions->free_device(what); });
    const GradientBuffer gradients(memory, layout.total, sizeof(float));
    NcclOptions options;
    options.lanes = world.lanes;
    options.units = static_cast<int>(layout.units.size());
    options.has_16_bit_wire = world.wire != WireType::kFp32;
    options.control.node = world.nodes[static_cast<size_t>(rank)];
    options.control.interface = "lo";
    RankCommunicatorSettings settings;
    settings.wire = world.wire;
    const World ranks = make_world(rank, world.nodes, world.nodes);
    RankCommunicator communicator(std::make_shared<RankLink>(ranks, make_nccl_transport(bootstrap, functions, options),
                                                             WatchSettings{}, std::make_shared<NonFiniteLog>()),
                                  make_decentral_negotiator({1, ranks}, layout, {}, world.is_static), layout, gradients,
                                  settings);
    try {
      train(communicator, world, layout, static_cast<float*>(gradients.data()));
      const auto* sums = static_cast<const float*>(communicator.sums());
      results[static_cast<size_t>(rank)].assign(sums, sums + layout.total);
      communicator.close();
    } catch (const std::exception& error) {
      communicator.abort(error.what());
      throw;
    }
  });
  REQUIRE(errors == std::vector<std::string>(world.nodes.size()));
  return results;
}

TEST_CASE("NCCL under the communicator sums every unit of every step, in one order, however units become ready") {
  const std::vector<Case> cases = {{{"a", "b"}, false, 1},
                                   {{"a", "a", "b"}, false, 3},
                                   {{"a", "a", "b", "b"}, false, 2, WireType::kBf16},
                                   {{"a", "b"}, true, 1},
                                   {{"a", "a", "b", "b"}, true, 3}};
  for (const Case& world : cases) {
    INFO(world.nodes.size() << " ranks, " << world.lanes << " lanes, static: " << world.is_static);
    test::FakeCluster cluster(std::vector<test::FakeTrouble>(world.nodes.size(), {.most_delay_us = 100}));
    const auto results = run_case(world, cluster);
    REQUIRE(cluster.violations() == std::vector<std::string>{});
    const double unit = world.wire == WireType::kFp32 ? 0x1p-24 : 0x1p-8;
    for (size_t i = 0; i < results[0].size(); ++i) {
      double sum = 0.0;
      double size = 0.0;
      for (int rank = 0; rank < cluster.ranks(); ++rank) {
        const double value = test::contribution(rank, kSteps - 1, static_cast<int64_t>(i));
        sum += value;
        size += std::abs(value);
      }
      if (std::abs(results[0][i] - sum) > unit * size * (cluster.ranks() + 1)) FAIL("element " << i << " is wrong");
    }
    for (const auto& result : results) REQUIRE((result == results[0]));
  }
}

}  // namespace
}  // namespace bertft
