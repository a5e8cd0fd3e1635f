// 16-bit wires over MPI: bit-equal ranks, bounded errors, half the bytes, and single blocks that go as fp32 because a
// sender's values or a sum do not fit.
#include <cmath>
#include <limits>

#include "tests/support/test.h"
#include "tests/unit/comm/mpi/mpi_world.h"

namespace bertft {
namespace {

using test::mpi_bootstrap;
using test::WorldCase;

constexpr int64_t kElements = 5 * 65536 + 333;

struct Outcome {
  std::vector<float> sums;
  int64_t payload = 0;  // of this rank
  int64_t fp32_blocks = 0;
};

using Change = std::function<void(float*, int)>;

Outcome reduce_with(const WorldCase& world, ReduceJob job, const Change& change, const WireMap& map = {}) {
  Outcome outcome;
  const auto body = [&](test::RankView& view) {
    test::fill(view.buffer, view.transport.rank(), 1);
    change(static_cast<float*>(view.buffer.data()), view.transport.rank());
    test::reduce_all(view.transport, kElements, 3 * 65536, job);
    outcome.sums.assign(view.floats(), view.floats() + kElements);
    const TransportCounters counters = view.transport.counters();
    for (const ChannelCounters& lane : counters.lanes) outcome.payload += lane.payload_sent;
    outcome.fp32_blocks = counters.fp32_blocks;
  };
  test::run_mpi(world, kElements, sizeof(float), body, map);
  REQUIRE(test::is_equal_on_all(outcome.sums.data(), outcome.sums.size() * sizeof(float)));
  return outcome;
}

// All ranks on one node, and each on a node of its own: the exchange is between all of them.
std::vector<WorldCase> flat_worlds() {
  WorldCase one, many;
  for (int rank = 0; rank < mpi_bootstrap().size(); ++rank) {
    one.nodes.emplace_back("a");
    many.nodes.push_back(std::to_string(rank));
  }
  return {one, many};
}

double magnitude(int64_t i) {
  double size = 0.0;
  for (int rank = 0; rank < mpi_bootstrap().size(); ++rank) size += std::abs(double{test::contribution(rank, 1, i)});
  return size;
}

TEST_CASE("MPI: with 16-bit wires all ranks get the same bits, near the true sum") {
  const auto keep = [](float*, int) {};
  for (const WorldCase& world : test::mpi_worlds()) {
    const Outcome exact = reduce_with(world, {.step = 1}, keep);
    for (const WireType wire : {WireType::kFp16, WireType::kBf16, WireType::kMixed}) {
      INFO(world.text() << ", " << wire_type_name(wire));
      const Outcome outcome = reduce_with(world, {.wire = wire, .step = 1}, keep);
      const double unit = wire == WireType::kBf16 ? 0x1p-8 : 0x1p-11;
      double worst = 0.0;
      for (int64_t i = 0; i < kElements; i += 3) {
        const auto at = static_cast<size_t>(i);
        const double error = std::abs(double{outcome.sums[at]} - double{exact.sums[at]});
        worst = std::max(worst, error / (2.01 * unit * magnitude(i) + 0x1p-35));
      }
      REQUIRE(worst <= 1.0);
      REQUIRE(outcome.fp32_blocks == 0);
      if (mpi_bootstrap().size() > 1) REQUIRE(worst > 0.0);
    }
  }
}

TEST_CASE("MPI: a 16-bit wire moves half the bytes") {
  const auto keep = [](float*, int) {};
  for (const WorldCase& world : flat_worlds()) {
    const Outcome exact = reduce_with(world, {.step = 1}, keep);
    for (const WireType wire : {WireType::kFp16, WireType::kBf16}) {
      REQUIRE(reduce_with(world, {.wire = wire, .step = 1}, keep).payload * 2 == exact.payload);
    }
  }
}

TEST_CASE("MPI: under the mixed wire vectors are exact") {
  const Layout layout = make_layout(
      {{.name = "a", .shape = {2, 65536}}, {.name = "b", .shape = {1000}}, {.name = "c", .shape = {3, 65536}}},
      1 << 20);
  const LayoutEntry& vector = layout.entries[1];
  const auto keep = [](float*, int) {};
  for (const WorldCase& world : flat_worlds()) {
    const Outcome exact = reduce_with(world, {.step = 1}, keep, WireMap(layout));
    const Outcome mixed = reduce_with(world, {.wire = WireType::kMixed, .step = 1}, keep, WireMap(layout));
    int64_t different = 0;
    for (int64_t i = 0; i < kElements; ++i) {
      const bool is_equal = mixed.sums[static_cast<size_t>(i)] == exact.sums[static_cast<size_t>(i)];
      if (i >= vector.offset && i < vector.offset + vector.size) REQUIRE(is_equal);
      different += is_equal ? 0 : 1;
    }
    if (mpi_bootstrap().size() > 1) REQUIRE(different > 1000);
  }
}

// Element 1000 lies in the slice of rank 0; 70000 is no half, but with -69000 the sum is one.
TEST_CASE("MPI: a block that overflows on one sender goes as fp32, from that sender alone") {
  if (mpi_bootstrap().size() == 1) return;
  const auto change = [](float* values, int rank) {
    values[1000] = rank == 0 ? -69000.0f : rank == 1 ? 70000.0f : 12.0f;
  };
  for (const WorldCase& world : flat_worlds()) {
    const Outcome outcome = reduce_with(world, {.wire = WireType::kFp16, .scale_exponent = 0, .step = 1}, change);
    CHECK(outcome.sums[1000] == 1000.0f + 12.0f * static_cast<float>(mpi_bootstrap().size() - 2));
    CHECK(outcome.fp32_blocks == (mpi_bootstrap().rank() == 1 ? 1 : 0));
  }
}

TEST_CASE("MPI: a block whose sum overflows is answered in fp32 by its owner") {
  const int size = mpi_bootstrap().size();
  if (size == 1) return;
  const auto change = [](float* values, int) { values[1000] = 40000.0f; };
  for (const WorldCase& world : flat_worlds()) {
    const ReduceJob fixed{.wire = WireType::kFp16, .scale_exponent = 0, .step = 1};
    const Outcome outcome = reduce_with(world, fixed, change);
    CHECK(outcome.sums[1000] == 40000.0f * static_cast<float>(size));
    CHECK(outcome.fp32_blocks == (mpi_bootstrap().rank() == 0 ? size - 1 : 0));
    // By its largest value each block gets a scale under which nothing overflows.
    const Outcome scaled = reduce_with(world, {.wire = WireType::kFp16, .step = 1}, change);
    CHECK(scaled.sums[1000] == 40000.0f * static_cast<float>(size));
    CHECK(scaled.fp32_blocks == 0);
  }
}

// Every block of every rank travels apart, in both directions and several windows at once.
TEST_CASE("MPI: ranges whose blocks all go as fp32 are exact") {
  const auto change = [](float* values, int) {
    for (int64_t i = 0; i < kElements; i += 16) values[i] *= 1e30f;
  };
  for (const WorldCase& world : flat_worlds()) {
    const Outcome exact = reduce_with(world, {.step = 1}, change);
    const Outcome outcome = reduce_with(world, {.wire = WireType::kFp16, .scale_exponent = 0, .step = 1}, change);
    CHECK((outcome.sums == exact.sums));
    if (mpi_bootstrap().size() > 1) CHECK(outcome.fp32_blocks > 0);
  }
}

TEST_CASE("MPI: values that are no numbers pass every wire as they are") {
  for (const WireType wire : {WireType::kFp16, WireType::kBf16, WireType::kMixed}) {
    const auto change = [](float* values, int rank) {
      if (rank == mpi_bootstrap().size() - 1) values[5] = std::numeric_limits<float>::quiet_NaN();
      if (rank == 0) values[200000] = std::numeric_limits<float>::infinity();
    };
    for (const WorldCase& world : test::mpi_worlds()) {
      const Outcome outcome = reduce_with(world, {.wire = wire, .step = 1}, change);
      CHECK(std::isnan(outcome.sums[5]));
      CHECK(outcome.sums[200000] == std::numeric_limits<float>::infinity());
      CHECK(std::isfinite(outcome.sums[6]));
    }
  }
}

}  // namespace
}  // namespace bertft
