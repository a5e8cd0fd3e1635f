// The communicator of several ranks with and without sparse embedding rows, on threads: the same bits, fewer bytes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>

#include "comm/native/native_transport.h"
#include "comm/native/topology.h"
#include "comm/negotiator.h"
#include "comm/rank_communicator.h"
#include "core/error.h"
#include "tests/support/rank_threads.h"
#include "tests/support/test.h"
#include "tests/unit/comm/native/native_world.h"

namespace bertft {
namespace {

using Rows = std::vector<int32_t>;

constexpr int64_t kTableRows = 152;
constexpr int64_t kWidth = 44;  // blocks of rows end between two aligned borders
constexpr int kTable = 2;       // its entry

const Layout& layout_of_test() {
  static const Layout layout = make_layout({{.name = "matrix", .shape = {60, 33}},
                                            {.name = "vector", .shape = {70}},
                                            {.name = "table", .shape = {kTableRows, kWidth}, .is_lookup_table = true}},
                                           1024);
  return layout;
}

struct Job {
  std::vector<std::string> nodes;  // of each rank
  SparseRule rule = SparseRule::kAnyUnused;
  bool is_static = false;
  int lanes = 1;
  WireType wire = WireType::kFp32;
};

struct Rank {
  Communicator& communicator;
  const Transport& transport;
  GradientBuffer& gradients;
  const int rank;

  float* table() { return static_cast<float*>(gradients.data()) + layout_of_test().entries[kTable].offset; }
};

std::vector<std::string> run_job(const Job& job, const std::function<void(Rank&)>& body) {
  const Layout& layout = layout_of_test();
  return test::run_ranks(static_cast<int>(job.nodes.size()), [&](Bootstrap& bootstrap) {
    const auto non_finite = std::make_shared<NonFiniteLog>();
    NativeOptions options;
    options.node = job.nodes[static_cast<size_t>(bootstrap.rank())];
    options.lanes = job.lanes;
    options.interface = "lo";
    options.wait_limit_s = 60.0;
    options.on_non_finite = [non_finite](const NonFinite& found) { non_finite->add(found); };
    GradientBuffer gradients(layout.trainable_total, sizeof(float), GradientMemory::kShared);
    auto transport = make_native_transport(bootstrap, options);
    const Transport& watched = *transport;
    const World world = make_world(bootstrap.rank(), job.nodes, job.nodes);
    const SharedMemory words = transport->share_words(node_words_bytes(layout, world.local_size));
    if (world.local_rank == 0) format_node_words(words, layout, world.local_size);
    transport->barrier();
    const SumThread sums =
        world.nodes == 1 && !job.is_static && job.lanes == 1 ? SumThread::kCompute : SumThread::kLane;
    RankCommunicator communicator(std::make_shared<RankLink>(world, std::move(transport), WatchSettings{}, non_finite),
                                  make_decentral_negotiator({1, world}, layout, words, job.is_static), layout,
                                  gradients, {.wire = job.wire, .sums = sums, .sparse_rows = job.rule});
    try {
      Rank rank{communicator, watched, gradients, bootstrap.rank()};
      body(rank);
      communicator.close();
    } catch (const std::exception& error) {
      communicator.abort(error.what());
      throw;
    }
  });
}

bool is_used(const Rows& rows, int64_t row) {
  return std::binary_search(rows.begin(), rows.end(), static_cast<int32_t>(row));
}

// The rows of a step on any rank: none, few, most or all of them.
Rows rows_of_step(int64_t step) {
  std::mt19937 random(static_cast<uint32_t>(step) * 77 + 5);
  Rows rows;
  const uint32_t share = step % 5 == 0 ? 90 : 20;
  for (int32_t row = 0; row < kTableRows; ++row) {
    if (random() % 100 < share) rows.push_back(row);
  }
  if (step % 7 == 3) rows.clear();
  if (step % 7 == 6) {
    rows.resize(kTableRows);
    std::iota(rows.begin(), rows.end(), 0);
  }
  return rows;
}

// Those of one rank: some have none.
Rows rows_of_rank(int64_t step, int rank) {
  std::mt19937 random(static_cast<uint32_t>(step) * 31 + static_cast<uint32_t>(rank) * 7 + 1);
  Rows rows = rows_of_step(step);
  if (rank == step % 3) return {};
  std::erase_if(rows, [&](int32_t) { return random() % 2 == 0; });
  return rows;
}

float value_of(int rank, int64_t step, int64_t index, const LayoutEntry& table) {
  const int64_t place = index - table.offset;
  const bool is_in_table = place >= 0 && place < table.size;
  if (is_in_table && !is_used(rows_of_rank(step, rank), place / kWidth)) return 0.0f;
  return test::contribution(rank, step, index);
}

// As backward does: of the table only the rows that are known to be not zero are cleared.
void write_gradients(Rank& rank, int64_t step, const Rows& dirty) {
  const Layout& layout = layout_of_test();
  const LayoutEntry& table = layout.entries[kTable];
  auto* values = static_cast<float*>(rank.gradients.data());
  for (int64_t i = 0; i < table.offset; ++i) values[i] = test::contribution(rank.rank, step, i);
  for (const int32_t row : dirty) std::memset(rank.table() + row * kWidth, 0, kWidth * sizeof(float));
  for (const int32_t row : rows_of_rank(step, rank.rank)) {
    for (int64_t i = table.offset + row * kWidth; i < table.offset + (row + 1) * kWidth; ++i) {
      values[i] = test::contribution(rank.rank, step, i);
    }
  }
}

void mark_units(Rank& rank, int64_t step, bool is_shuffled) {
  std::vector<int> units(layout_of_test().units.size());
  std::iota(units.begin(), units.end(), 0);
  std::mt19937 random(static_cast<uint32_t>(step) * 131 + static_cast<uint32_t>(rank.rank));
  if (is_shuffled) std::shuffle(units.begin(), units.end(), random);
  for (const int unit : units) rank.communicator.mark_ready(unit);
}

// Runs `steps` and returns what each left as sums.
std::vector<std::vector<float>> sums_of_steps(Rank& rank, int64_t steps, bool is_shuffled) {
  const auto total = static_cast<size_t>(layout_of_test().trainable_total);
  std::vector<std::vector<float>> all;
  Rows dirty;
  for (int64_t step = 1; step <= steps; ++step) {
    const Rows rows = rows_of_step(step);
    rank.communicator.set_used_rows(kTable, rows);
    rank.communicator.step_begin(step);
    write_gradients(rank, step, dirty);
    mark_units(rank, step, is_shuffled);
    rank.communicator.finish();
    const auto* sums = static_cast<const float*>(rank.communicator.sums());
    all.emplace_back(sums, sums + total);
    for (int64_t row = 0; row < kTableRows; ++row) {
      const float* begin = rank.table() + row * kWidth;
      const bool is_zero = std::all_of(begin, begin + kWidth, [](float value) { return value == 0.0f; });
      if (!is_zero && !is_used(rows, row)) throw InternalError("a row that nobody uses is not zero");
    }
    dirty = rows;
    rank.communicator.barrier();  // a result that ranks share has been read
  }
  return all;
}

std::vector<float> expected_sum(const std::vector<std::string>& nodes, int64_t step) {
  const LayoutEntry& table = layout_of_test().entries[kTable];
  const World world = make_world(0, nodes, nodes);
  std::vector<float> total(static_cast<size_t>(layout_of_test().trainable_total));
  for (int64_t i = 0; i < layout_of_test().trainable_total; ++i) {
    float sum = 0.0f;
    for (int node = 0; node < world.nodes; ++node) {
      float of_node = 0.0f;
      for (int rank = 0; rank < world.size; ++rank) {
        if (world.node_of[static_cast<size_t>(rank)] == node) of_node += value_of(rank, step, i, table);
      }
      sum += of_node;
    }
    total[static_cast<size_t>(i)] = sum;
  }
  return total;
}

const std::vector<std::vector<std::string>> kWorlds = {{"a", "a"},           {"a", "a", "a"},
                                                       {"a", "a", "a", "a"}, {"a", "b"},
                                                       {"a", "b", "a", "b"}, {"a", "a", "a", "b", "b", "b"}};

std::string text_of(const Job& job) {
  std::string text;
  for (const std::string& node : job.nodes) text += node;
  return text + (job.is_static ? " static" : " bitvector") + " lanes " + std::to_string(job.lanes);
}

TEST_CASE("Sums with sparse rows are those of the whole table to the bit, step by step") {
  constexpr int64_t kSteps = 10;
  for (const std::vector<std::string>& nodes : kWorlds) {
    std::vector<std::vector<float>> expected;
    for (int64_t step = 1; step <= kSteps; ++step) expected.push_back(expected_sum(nodes, step));
    for (const SparseRule rule : {SparseRule::kNever, SparseRule::kUpToHalf, SparseRule::kAnyUnused}) {
      const bool is_static = nodes.size() % 2 == 0 && rule != SparseRule::kUpToHalf;
      const Job job{
          .nodes = nodes, .rule = rule, .is_static = is_static, .lanes = rule == SparseRule::kUpToHalf ? 3 : 1};
      CAPTURE(text_of(job), static_cast<int>(rule));
      std::vector<std::vector<std::vector<float>>> of_ranks(nodes.size());
      const auto errors = run_job(
          job, [&](Rank& rank) { of_ranks[static_cast<size_t>(rank.rank)] = sums_of_steps(rank, kSteps, !is_static); });
      REQUIRE(errors == std::vector<std::string>(nodes.size()));
      for (const auto& of_rank : of_ranks) {
        REQUIRE(of_rank.size() == expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
          CAPTURE(i + 1);
          REQUIRE(std::memcmp(of_rank[i].data(), expected[i].data(), expected[i].size() * sizeof(float)) == 0);
        }
      }
    }
  }
}

TEST_CASE("With 16-bit wires the ranks agree to the bit, and rows that nobody uses are zero") {
  constexpr int64_t kSteps = 6;
  for (const WireType wire : {WireType::kMixed, WireType::kBf16}) {
    for (const std::vector<std::string>& nodes : {kWorlds[3], kWorlds[5]}) {
      const Job job{.nodes = nodes, .wire = wire};
      CAPTURE(text_of(job), wire_type_name(wire));
      std::vector<std::vector<std::vector<float>>> of_ranks(nodes.size());
      const auto errors = run_job(
          job, [&](Rank& rank) { of_ranks[static_cast<size_t>(rank.rank)] = sums_of_steps(rank, kSteps, true); });
      REQUIRE(errors == std::vector<std::string>(nodes.size()));
      for (const auto& of_rank : of_ranks) REQUIRE(of_rank == of_ranks[0]);
      const int64_t begin = layout_of_test().entries[kTable].offset;
      for (int64_t step = 1; step <= kSteps; ++step) {
        const std::vector<float> exact = expected_sum(nodes, step);
        for (int64_t i = begin; i < begin + kTableRows * kWidth; ++i) {
          const float sum = of_ranks[0][static_cast<size_t>(step - 1)][static_cast<size_t>(i)];
          // Both nodes' parts and the result are rounded: contributions are below 1, each rounding 2^-9 or less.
          REQUIRE(std::abs(sum - exact[static_cast<size_t>(i)]) <= static_cast<float>(nodes.size()) * 0x1p-7f);
          if (!is_used(rows_of_step(step), (i - begin) / kWidth)) REQUIRE(sum == 0.0f);
        }
      }
    }
  }
}

// Between two nodes with a rank each a range of S bytes takes S payload bytes of each, in two messages.
TEST_CASE("A step sends exactly the rows, and two messages for a unit whatever is left of it") {
  const Layout& layout = layout_of_test();
  for (const SparseRule rule : {SparseRule::kNever, SparseRule::kAnyUnused}) {
    std::vector<TransportCounters> before(2), after(2);
    const auto errors = run_job({.nodes = {"a", "b"}, .rule = rule}, [&](Rank& rank) {
      const auto own = static_cast<size_t>(rank.rank);
      for (int64_t step = 1; step <= 2; ++step) {
        if (step == 2) before[own] = rank.transport.counters();
        rank.communicator.set_used_rows(kTable, {3, 70, 71, 149});
        rank.communicator.step_begin(step);
        mark_units(rank, step, false);
        rank.communicator.finish();
      }
      after[own] = rank.transport.counters();
    });
    REQUIRE(errors == std::vector<std::string>(2));
    const int64_t others = layout.entries[kTable].offset;
    const int64_t table = rule == SparseRule::kNever ? layout.entries[kTable].size : 4 * kWidth;
    for (size_t rank = 0; rank < 2; ++rank) {
      const ChannelCounters& from = before[rank].lanes[0];
      const ChannelCounters& to = after[rank].lanes[0];
      CHECK(to.payload_sent - from.payload_sent == (others + table) * static_cast<int64_t>(sizeof(float)));
      CHECK(to.messages_sent - from.messages_sent == 2 * static_cast<int64_t>(layout.units.size()));
    }
  }
}

TEST_CASE("A NaN in a row that travels alone is named by its place in the table") {
  constexpr int32_t kRow = 70;
  const int64_t index = layout_of_test().entries[kTable].offset + kRow * kWidth + 5;
  for (const std::vector<std::string>& nodes : kWorlds) {
    CAPTURE(text_of({.nodes = nodes}));
    const int culprit = static_cast<int>(nodes.size()) - 1;
    std::mutex mutex;
    std::vector<NonFinite> found;
    std::vector<char> is_nan(nodes.size(), 0);
    const auto errors = run_job({.nodes = nodes}, [&](Rank& rank) {
      rank.communicator.set_used_rows(kTable, {3, 9, kRow, 149});
      rank.communicator.step_begin(1);
      if (rank.rank == culprit) rank.table()[kRow * kWidth + 5] = std::numeric_limits<float>::quiet_NaN();
      mark_units(rank, 1, false);
      rank.communicator.finish();
      const auto* sums = static_cast<const float*>(rank.communicator.sums());
      is_nan[static_cast<size_t>(rank.rank)] = std::isnan(sums[index]);
      const std::lock_guard lock(mutex);
      for (const NonFinite& one : rank.communicator.take_non_finite()) found.push_back(one);
    });
    REQUIRE(errors == std::vector<std::string>(nodes.size()));
    REQUIRE(is_nan == std::vector<char>(nodes.size(), 1));
    REQUIRE(!found.empty());
    for (const NonFinite& one : found) {
      CHECK(one.rank == culprit);
      CHECK(one.index == index);
      CHECK(one.nan_count == 1);
    }
  }
}

TEST_CASE("Ranks that count other rows find out, inside a node and between nodes") {
  for (const std::vector<std::string>& nodes : {kWorlds[0], kWorlds[3]}) {
    CAPTURE(text_of({.nodes = nodes}));
    const auto errors = run_job({.nodes = nodes}, [&](Rank& rank) {
      rank.communicator.set_used_rows(kTable, rank.rank == 0 ? Rows{1, 2} : Rows{1, 2, 3});
      rank.communicator.step_begin(1);
      mark_units(rank, 1, false);
      rank.communicator.finish();
    });
    for (const std::string& error : errors) {
      CAPTURE(error);
      CHECK(error.find("rank") != std::string::npos);
      // The end of what rank 0 sums: inside a node all of its rows, between two the first half, which is rank 0's
      // slice.
      const int64_t begin = layout_of_test().entries[kTable].offset;
      const ElementRange rows_of_0 = {begin, begin + 2 * kWidth};
      const int64_t border = nodes == kWorlds[0] ? rows_of_0.end : native::slice_of(rows_of_0, 0, 2).end;
      CHECK(error.find(std::to_string(border)) != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace bertft
