// Values that are not finite under the nccl transport: told from sums that overflow their 16-bit format, reported by
// the rank they came from, and units that overflowed travel as fp32 from the second step after.
#include <cmath>
#include <limits>
#include <mutex>

#include "comm/agreed.h"
#include "tests/support/test.h"
#include "tests/unit/comm/nccl/nccl_world.h"

namespace bertft {
namespace {

using test::NcclCase;
using test::NcclView;

constexpr int64_t kElements = 4096;
constexpr int kPlace = 1234;  // in unit 2 of 8

struct Outcome {
  std::vector<std::vector<float>> sums;       // [rank][step]: of the element at kPlace
  std::vector<std::vector<uint32_t>> words;   // [rank][step]
  std::vector<std::vector<NonFinite>> found;  // [rank]
  std::vector<TransportCounters> counters;    // [rank]
};

// Every element is 1; set(rank, step, values) changes some.
Outcome run_steps(const NcclCase& world, WireType wire, int64_t steps,
                  const std::function<void(int, int64_t, float*)>& set) {
  test::FakeCluster cluster = test::healthy_cluster(world, 30);
  const size_t ranks = world.nodes.size();
  Outcome outcome{std::vector<std::vector<float>>(ranks), std::vector<std::vector<uint32_t>>(ranks),
                  std::vector<std::vector<NonFinite>>(ranks), std::vector<TransportCounters>(ranks)};
  std::mutex mutex;
  const auto change = [&](NcclOptions& options) {
    options.on_non_finite = [&](const NonFinite& found) {
      const std::lock_guard lock(mutex);
      outcome.found[static_cast<size_t>(found.rank)].push_back(found);
    };
  };
  const auto body = [&](NcclView& view) {
    const auto rank = static_cast<size_t>(view.transport.rank());
    for (int64_t step = 0; step < steps; ++step) {
      for (int64_t i = 0; i < kElements; ++i) view.values[i] = 1.0f;
      set(view.transport.rank(), step, view.values);
      outcome.words[rank].push_back(test::sum_step(view, world, {.wire = wire, .step = step}));
      outcome.sums[rank].push_back(view.values[kPlace]);
    }
    outcome.counters[rank] = view.transport.counters();
  };
  REQUIRE(test::run_nccl(cluster, world, kElements, body, {}, change) == std::vector<std::string>(ranks));
  REQUIRE(cluster.violations() == std::vector<std::string>{});
  return outcome;
}

TEST_CASE("NCCL sums that overflow fp16 drop the step on all ranks and travel as fp32 from the second step after") {
  for (const WireType wire : {WireType::kFp16, WireType::kMixed}) {
    for (const bool is_hierarchical : {false, true}) {
      const NcclCase world{{"a", "a", "b", "b"}, is_hierarchical, 2};
      // 200 fits by itself at the scale of 2^8, four of them do not.
      const auto set = [](int, int64_t, float* values) { values[kPlace] = 200.0f; };
      const Outcome outcome = run_steps(world, wire, 4, set);
      for (size_t rank = 0; rank < 4; ++rank) {
        INFO(world.text() << ", rank " << rank);
        for (const size_t step : {0u, 1u}) {
          REQUIRE(std::isinf(outcome.sums[rank][step]));
          REQUIRE(outcome.words[rank][step] == kFlagNonFinite);
        }
        for (const size_t step : {2u, 3u}) {
          REQUIRE(outcome.sums[rank][step] == 800.0f);
          REQUIRE(outcome.words[rank][step] == 0);
        }
        REQUIRE(outcome.found[rank].empty());
        REQUIRE(outcome.counters[rank].fp32_blocks == 2);  // one unit, two steps
      }
    }
  }
}

TEST_CASE("NCCL takes a value that does not fit fp16 on one rank for an overflow, not for a fault of that rank") {
  const NcclCase world{{"a", "b"}, false, 1};
  const Outcome outcome = run_steps(world, WireType::kFp16, 3, [](int rank, int64_t, float* values) {
    if (rank == 1) values[kPlace] = 1e6f;
  });
  for (size_t rank = 0; rank < 2; ++rank) {
    REQUIRE(outcome.words[rank] == std::vector<uint32_t>{kFlagNonFinite, kFlagNonFinite, 0});
    REQUIRE(outcome.sums[rank][2] == 1e6f + 1.0f);
    REQUIRE(outcome.found[rank].empty());
  }
}

TEST_CASE("NCCL reports values that are not finite by rank and place, for every wire, and keeps that wire") {
  for (const WireType wire : {WireType::kFp32, WireType::kFp16, WireType::kBf16}) {
    const NcclCase world{{"a", "a", "b", "b"}, true, 2};
    const Outcome outcome = run_steps(world, wire, 4, [](int rank, int64_t step, float* values) {
      if (rank == 2 && step == 1) {
        values[kPlace] = std::numeric_limits<float>::quiet_NaN();
        values[kPlace + 9] = -std::numeric_limits<float>::infinity();
        values[kPlace + 10] = -3.0f;
        values[kPlace + 11] = 7.0f;
      }
    });
    for (size_t rank = 0; rank < 4; ++rank) {
      INFO(wire_type_name(wire) << ", rank " << rank);
      REQUIRE(outcome.words[rank] == std::vector<uint32_t>{0, kFlagNonFinite, 0, 0});
      REQUIRE(std::isnan(outcome.sums[rank][1]));
      REQUIRE(outcome.sums[rank][3] == 4.0f);
      REQUIRE(outcome.counters[rank].fp32_blocks == 0);
      REQUIRE(outcome.found[rank].size() == (rank == 2 ? 1 : 0));
    }
    const NonFinite& found = outcome.found[2][0];
    REQUIRE(found.index == kPlace);
    REQUIRE(found.step == 1);
    REQUIRE(found.unit == kPlace / (kElements / world.units));
    REQUIRE(found.nan_count == 1);
    REQUIRE(found.inf_count == 1);
    REQUIRE(found.min == -3.0);
    REQUIRE(found.max == 7.0);
  }
}

TEST_CASE("NCCL keeps to the scale that a job names") {
  const NcclCase world{{"a", "b"}, false, 1};
  test::FakeCluster cluster = test::healthy_cluster(world, 0);
  std::vector<float> sums(2);
  const auto body = [&](NcclView& view) {
    for (int64_t i = 0; i < kElements; ++i) view.values[i] = 30000.0f;
    test::sum_step(view, world, {.wire = WireType::kFp16, .scale_exponent = 0});
    sums[static_cast<size_t>(view.transport.rank())] = view.values[kPlace];
  };
  REQUIRE(test::run_nccl(cluster, world, kElements, body) == std::vector<std::string>(2));
  REQUIRE(sums == std::vector<float>{60000.0f, 60000.0f});
}

}  // namespace
}  // namespace bertft
