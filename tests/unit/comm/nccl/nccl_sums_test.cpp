// Sums by the nccl transport against the fake: right and bit-equal on all ranks for many worlds, lanes and number
// formats, launched by one thread in one order whatever the delays, without a call that makes the host wait.
#include <cmath>
#include <cstring>

#include "comm/agreed.h"
#include "tests/support/test.h"
#include "tests/unit/comm/native/native_world.h"
#include "tests/unit/comm/nccl/nccl_world.h"

namespace bertft {
namespace {

using test::NcclCase;
using test::NcclView;

constexpr int64_t kElements = 8 * 512 + 37;  // the last unit has a rest that no slice takes

std::vector<std::vector<std::string>> node_lists() {
  return {{"a"},           {"a", "a"},           {"a", "b"},           {"a", "a", "a"},          {"a", "b", "b"},
          {"a", "b", "c"}, {"a", "a", "b", "b"}, {"a", "b", "a", "b"}, {"b", "a", "a", "b", "b"}};
}

void fill(NcclView& view, int64_t step) {
  for (int64_t i = 0; i < view.elements; ++i) view.values[i] = test::contribution(view.transport.rank(), step, i);
}

// The largest |sum - true sum| / sum of magnitudes, over all elements.
double worst_error(const std::vector<float>& sums, int ranks, int64_t step) {
  double worst = 0.0;
  for (size_t i = 0; i < sums.size(); ++i) {
    double sum = 0.0;
    double size = 0.0;
    for (int rank = 0; rank < ranks; ++rank) {
      const double value = test::contribution(rank, step, static_cast<int64_t>(i));
      sum += value;
      size += std::abs(value);
    }
    worst = std::max(worst, (std::abs(sums[i] - sum) - 0x1p-30) / size);
  }
  return worst;
}

// What a rounding of each contribution and of each partial sum can add up to.
double bound_of(WireType wire, int ranks) {
  const double unit = wire == WireType::kFp32 ? 0x1p-24 : wire == WireType::kBf16 ? 0x1p-8 : 0x1p-11;
  return unit * (ranks + 1);
}

struct Outcome {
  std::vector<std::vector<float>> results;      // [rank]
  std::vector<test::FakeCounts> before, after;  // the steps
  std::vector<std::string> violations;
};

// Two steps, so that what the first leaves behind would show.
Outcome run_steps(const NcclCase& world, WireType wire, int most_delay_us, const WireMap& map = {}) {
  test::FakeCluster cluster = test::healthy_cluster(world, most_delay_us);
  const size_t ranks = world.nodes.size();
  Outcome outcome;
  outcome.results.resize(ranks);
  outcome.before.resize(ranks);
  outcome.after.resize(ranks);
  const auto body = [&](NcclView& view) {
    const auto rank = static_cast<size_t>(view.transport.rank());
    outcome.before[rank] = cluster.counts(view.transport.rank());
    for (int64_t step = 0; step < 2; ++step) {
      fill(view, step);
      test::sum_step(view, world, {.wire = wire, .step = step});
      view.transport.barrier();
    }
    outcome.after[rank] = cluster.counts(view.transport.rank());
    outcome.results[rank].assign(view.values, view.values + view.elements);
  };
  const auto errors = test::run_nccl(cluster, world, kElements, body, map);
  REQUIRE(errors == std::vector<std::string>(ranks));
  outcome.violations = cluster.violations();
  return outcome;
}

void require_sound(const Outcome& outcome, const NcclCase& world, WireType wire) {
  const auto ranks = static_cast<int>(world.nodes.size());
  REQUIRE(outcome.violations == std::vector<std::string>{});
  for (const auto& result : outcome.results) {
    REQUIRE(std::memcmp(result.data(), outcome.results[0].data(), result.size() * sizeof(float)) == 0);
  }
  REQUIRE(worst_error(outcome.results[0], ranks, 1) <= bound_of(wire, ranks));
  for (size_t rank = 0; rank < outcome.results.size(); ++rank) {
    REQUIRE(outcome.after[rank].nccl_threads == 1);
    REQUIRE(outcome.after[rank].operations > outcome.before[rank].operations);
    REQUIRE(outcome.after[rank].synchronising == outcome.before[rank].synchronising);
  }
}

TEST_CASE("NCCL sums are right and bit-equal for all worlds, flat and by nodes") {
  for (const auto& nodes : node_lists()) {
    for (const bool is_hierarchical : {false, true}) {
      const NcclCase world{nodes, is_hierarchical, 2};
      INFO(world.text());
      require_sound(run_steps(world, WireType::kFp32, 100), world, WireType::kFp32);
    }
  }
}

TEST_CASE("NCCL sums are right and bit-equal for all lanes and wires") {
  for (const bool is_hierarchical : {false, true}) {
    for (const int lanes : {1, 3, 4}) {
      for (const WireType wire : {WireType::kFp32, WireType::kFp16, WireType::kBf16, WireType::kMixed}) {
        const NcclCase world{{"a", "a", "b", "b"}, is_hierarchical, lanes};
        INFO(world.text() << ", " << wire_type_name(wire));
        const Outcome outcome = run_steps(world, wire, 50);
        require_sound(outcome, world, wire);
        // A 16-bit wire that changes no bit would be none.
        if (wire != WireType::kFp32) REQUIRE(worst_error(outcome.results[0], 4, 1) > bound_of(WireType::kFp32, 4));
      }
    }
  }
}

TEST_CASE("NCCL launches keep one order under long delays") {
  for (const bool is_hierarchical : {false, true}) {
    const NcclCase world{{"a", "a", "b", "b"}, is_hierarchical, 4, 16};
    INFO(world.text());
    require_sound(run_steps(world, WireType::kBf16, 2000), world, WireType::kBf16);
  }
}

TEST_CASE("NCCL sums under the mixed wire keep vectors exact") {
  const Layout layout = make_layout(
      {{.name = "a", .shape = {4, 256}}, {.name = "b", .shape = {512}}, {.name = "c", .shape = {5, 400}}}, 1 << 20);
  const NcclCase world{{"a", "a", "b", "b"}, true, 2};
  const Outcome mixed = run_steps(world, WireType::kMixed, 20, WireMap(layout));
  const Outcome exact = run_steps(world, WireType::kFp32, 20);
  require_sound(mixed, world, WireType::kMixed);
  int64_t different = 0;
  for (int64_t i = 0; i < layout.total; ++i) {
    const bool is_equal = mixed.results[0][static_cast<size_t>(i)] == exact.results[0][static_cast<size_t>(i)];
    if (i >= layout.entries[1].offset && i < layout.entries[1].offset + 512) REQUIRE(is_equal);
    different += is_equal ? 0 : 1;
  }
  REQUIRE(different > 1000);
}

TEST_CASE("NCCL sums wait for the gradients that are on the compute stream") {
  const NcclCase world{{"a", "b"}, false, 1, 1};
  test::FakeCluster cluster = test::healthy_cluster(world, 0);
  std::vector<float> seen(2);
  const auto body = [&](NcclView& view) {
    for (int64_t i = 0; i < view.elements; ++i) view.values[i] = 0.0f;
    cluster.compute(view.transport.rank(), [&view] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      view.values[5] = 1.0f;
    });
    test::sum_step(view, world, {});
    seen[static_cast<size_t>(view.transport.rank())] = view.values[5];
  };
  REQUIRE(test::run_nccl(cluster, world, kElements, body) == std::vector<std::string>(2));
  REQUIRE(seen == std::vector<float>{2.0f, 2.0f});
}

TEST_CASE("NCCL posted sums overlap, and their progress does not wait") {
  const NcclCase world{{"a", "a"}, false, 2, 2};
  test::FakeCluster cluster = test::healthy_cluster(world, 200);
  std::vector<std::vector<float>> results(2);
  const auto body = [&](NcclView& view) {
    fill(view, 0);
    for (const int unit : {1, 0}) {  // handed in the wrong way round
      ReduceJob job{.range = {unit * 2048, (unit + 1) * 2048}, .step = 0, .unit = unit};
      job.order = unit;
      job.is_last = unit == 1;
      view.transport.post(unit, job);
    }
    while (!view.transport.progress(0) || !view.transport.progress(1)) std::this_thread::yield();
    view.transport.wait_posted(0);
    view.transport.wait_posted(1);
    results[static_cast<size_t>(view.transport.rank())].assign(view.values, view.values + 4096);
  };
  REQUIRE(test::run_nccl(cluster, world, kElements, body) == std::vector<std::string>(2));
  REQUIRE(cluster.violations().empty());
  REQUIRE((results[0] == results[1]));
  REQUIRE(worst_error(results[0], 2, 0) <= bound_of(WireType::kFp32, 2));
}

TEST_CASE("NCCL flags of all ranks and units come back with the last unit, alike") {
  for (const bool is_hierarchical : {false, true}) {
    const NcclCase world{{"a", "a", "b", "b"}, is_hierarchical, 3};
    test::FakeCluster cluster = test::healthy_cluster(world, 50);
    std::vector<std::vector<uint32_t>> words(4);
    const auto body = [&](NcclView& view) {
      const int rank = view.transport.rank();
      for (int64_t step = 0; step < 4; ++step) {
        fill(view, step);
        // In step s unit 2 s + 1 of rank s raises one bit, and the last unit of rank 0 another.
        const uint32_t word = test::sum_step(view, world, {.step = step}, [&](ReduceJob& job) {
          if (rank == step && job.unit == 2 * step + 1) job.flags = 1u << (8 + step);
          if (rank == 0 && job.is_last) job.flags |= 1u << 31;
        });
        words[static_cast<size_t>(rank)].push_back(word);
      }
    };
    REQUIRE(test::run_nccl(cluster, world, kElements, body) == std::vector<std::string>(4));
    for (const auto& of_rank : words) {
      for (uint32_t step = 0; step < 4; ++step) REQUIRE(of_rank[step] == (1u << 31 | 1u << (8 + step)));
    }
  }
}

TEST_CASE("NCCL counters tell operations and bytes of each lane") {
  const NcclCase world{{"a", "b"}, false, 2, 2};
  test::FakeCluster cluster = test::healthy_cluster(world, 0);
  std::vector<TransportCounters> counters(2);
  const auto body = [&](NcclView& view) {
    fill(view, 0);
    test::sum_step(view, world, {.wire = WireType::kBf16});
    counters[static_cast<size_t>(view.transport.rank())] = view.transport.counters();
  };
  REQUIRE(test::run_nccl(cluster, world, 4096, body) == std::vector<std::string>(2));
  for (const TransportCounters& of_rank : counters) {
    REQUIRE(of_rank.lanes.size() == 2);
    REQUIRE(of_rank.lanes[0].messages_sent == 1);
    REQUIRE(of_rank.lanes[0].payload_sent == 2048 * 2);
    REQUIRE(of_rank.lanes[1].messages_sent == 2);  // and the step's status: 32 flags and a byte for each unit
    REQUIRE(of_rank.lanes[1].payload_sent == 2048 * 2 + 34);
  }
}

}  // namespace
}  // namespace bertft
