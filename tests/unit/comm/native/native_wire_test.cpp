// 16-bit wires between nodes: bit-equal ranks, bounded errors, half the bytes, and single blocks that go as fp32
// because a sender's values or a sum do not fit.
#include <cmath>
#include <cstring>

#include "tests/support/test.h"
#include "tests/unit/comm/native/native_world.h"

namespace bertft {
namespace {

using test::WorldCase;

const int64_t kElements = 4 * 65536;

struct Outcome {
  std::vector<std::vector<float>> results;  // [rank]
  std::vector<TransportCounters> counters;
};

Outcome reduce_with(const WorldCase& world, ReduceJob job, const std::function<void(float*, int)>& change,
                    const WireMap& map = {}) {
  Outcome outcome;
  outcome.results.resize(world.nodes.size());
  outcome.counters.resize(world.nodes.size());
  const auto body = [&](test::RankView& view) {
    const auto rank = static_cast<size_t>(view.transport.rank());
    test::fill(view.buffer, view.transport.rank(), 1);
    change(static_cast<float*>(view.buffer.data()), view.transport.rank());
    test::reduce_all(view.transport, kElements, kElements / 2, job);
    outcome.results[rank].assign(view.floats(), view.floats() + kElements);
    outcome.counters[rank] = view.transport.counters();
  };
  const auto errors = test::run_world(world, kElements, sizeof(float), body, map);
  REQUIRE(errors == std::vector<std::string>(world.nodes.size()));
  for (const auto& result : outcome.results) {
    REQUIRE(std::memcmp(result.data(), outcome.results[0].data(), result.size() * sizeof(float)) == 0);
  }
  return outcome;
}

int64_t payload_of(const Outcome& outcome) {
  int64_t bytes = 0;
  for (const TransportCounters& counters : outcome.counters) {
    for (const ChannelCounters& lane : counters.lanes) {
      bytes += lane.payload_sent;
    }
  }
  return bytes;
}

int64_t fp32_blocks_of(const Outcome& outcome) {
  int64_t blocks = 0;
  for (const TransportCounters& counters : outcome.counters) {
    blocks += counters.fp32_blocks;
  }
  return blocks;
}

TEST_CASE("With 16-bit wires all ranks get the same bits, near the true sum, for half the bytes") {
  for (const auto& nodes : test::node_lists()) {
    for (const bool is_hierarchical : {true, false}) {
      const WorldCase world{nodes, is_hierarchical, 2};
      const Outcome exact = reduce_with(world, {.step = 1}, [](float*, int) {});
      for (const WireType wire : {WireType::kFp16, WireType::kBf16, WireType::kMixed}) {
        const Outcome outcome = reduce_with(world, {.wire = wire, .step = 1}, [](float*, int) {});
        INFO(world.text() << ", " << wire_type_name(wire));
        const double unit = wire == WireType::kBf16 ? 0x1p-8 : 0x1p-11;
        double worst = 0.0;
        for (int64_t i = 0; i < kElements; ++i) {
          double size = 0.0;
          for (int rank = 0; rank < static_cast<int>(nodes.size()); ++rank) {
            size += std::abs(double{test::contribution(rank, 1, i)});
          }
          const auto at = static_cast<size_t>(i);
          const double error = std::abs(double{outcome.results[0][at]} - double{exact.results[0][at]});
          worst = std::max(worst, error / (2.01 * unit * size + 0x1p-35));
        }
        REQUIRE(worst <= 1.0);
        REQUIRE(payload_of(outcome) * 2 == payload_of(exact));
        REQUIRE(fp32_blocks_of(outcome) == 0);
        if (payload_of(exact) == 0) {  // one node: nothing is cast
          REQUIRE((outcome.results[0] == exact.results[0]));
        } else {
          REQUIRE(worst > 0.0);
        }
      }
    }
  }
}

TEST_CASE("Under the mixed wire vectors are exact") {
  const Layout layout = make_layout(
      {{.name = "a", .shape = {2, 65536}}, {.name = "b", .shape = {1000}}, {.name = "c", .shape = {2, 65024}}},
      1 << 20);
  REQUIRE(layout.total == 2 * 65536 + 1008 + 2 * 65024);
  const LayoutEntry& vector = layout.entries[1];
  const WorldCase world{{"a", "b", "b"}};
  const auto keep = [](float*, int) {};
  const Outcome exact = reduce_with(world, {.step = 1}, keep, WireMap(layout));
  const Outcome mixed = reduce_with(world, {.wire = WireType::kMixed, .step = 1}, keep, WireMap(layout));
  size_t different = 0;
  for (int64_t i = 0; i < layout.total; ++i) {
    const auto at = static_cast<size_t>(i);
    const bool is_equal = mixed.results[0][at] == exact.results[0][at];
    if (i >= vector.offset && i < vector.offset + vector.size) REQUIRE(is_equal);
    different += is_equal ? 0 : 1;
  }
  REQUIRE(different > 1000);
}

TEST_CASE("A block that overflows on one sender goes as fp32, from that sender alone") {
  const WorldCase world{{"a", "b", "c"}};
  // Element 1000 lies in the slice of node a; 70000 is no half, but with -69000 the sum is one.
  const auto change = [](float* values, int rank) {
    if (rank == 1) values[1000] = 70000.0f;
    if (rank == 0) values[1000] = -69000.0f;
    if (rank == 2) values[1000] = 24.0f;
  };
  const Outcome outcome = reduce_with(world, {.wire = WireType::kFp16, .scale_exponent = 0, .step = 1}, change);
  REQUIRE(outcome.results[0][1000] == 1024.0f);
  REQUIRE(outcome.counters[0].fp32_blocks == 0);
  REQUIRE(outcome.counters[1].fp32_blocks == 1);
  REQUIRE(outcome.counters[2].fp32_blocks == 0);
}

TEST_CASE("A block whose sum overflows is answered in fp32 by its owner") {
  const WorldCase world{{"a", "b", "c"}};
  const auto change = [](float* values, int) { values[1000] = 40000.0f; };
  const Outcome outcome = reduce_with(world, {.wire = WireType::kFp16, .scale_exponent = 0, .step = 1}, change);
  REQUIRE(outcome.results[0][1000] == 120000.0f);
  REQUIRE(outcome.counters[0].fp32_blocks == 2);  // to two peers
  REQUIRE(outcome.counters[1].fp32_blocks == 0);
  REQUIRE(outcome.counters[2].fp32_blocks == 0);
  // By its largest value each block gets a scale under which nothing overflows.
  const Outcome scaled = reduce_with(world, {.wire = WireType::kFp16, .step = 1}, change);
  REQUIRE(scaled.results[0][1000] == 120000.0f);
  REQUIRE(fp32_blocks_of(scaled) == 0);
}

TEST_CASE("Values that are no numbers pass every wire as they are") {
  for (const WireType wire : {WireType::kFp16, WireType::kBf16, WireType::kMixed}) {
    const auto change = [](float* values, int rank) {
      if (rank == 1) values[5] = std::numeric_limits<float>::quiet_NaN();
      if (rank == 0) values[200000] = std::numeric_limits<float>::infinity();
    };
    const Outcome outcome = reduce_with({{"a", "a", "b"}}, {.wire = wire, .step = 1}, change);
    REQUIRE(std::isnan(outcome.results[2][5]));
    REQUIRE(outcome.results[2][200000] == std::numeric_limits<float>::infinity());
    REQUIRE(std::isfinite(outcome.results[2][6]));
  }
}

}  // namespace
}  // namespace bertft
