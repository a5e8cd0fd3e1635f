// Sums over ranks on threads: bit-equal to a serial sum in canonical order whatever nodes, lanes, units and hierarchy
// there are; exact counts of bytes and messages; flags.
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "comm/native/topology.h"
#include "core/error.h"
#include "tests/support/rank_threads.h"
#include "tests/support/test.h"
#include "tests/unit/comm/native/native_world.h"

namespace bertft {
namespace {

using test::WorldCase;

const std::vector<std::string> no_errors(size_t ranks) { return std::vector<std::string>(ranks); }

std::vector<WorldCase> worlds() {
  std::vector<WorldCase> result;
  for (const auto& nodes : test::node_lists()) {
    for (const bool is_hierarchical : {true, false}) {
      result.push_back({nodes, is_hierarchical, nodes.size() % 2 == 0 ? 3 : 1});
    }
  }
  return result;
}

TEST_CASE("Sums in fp32 are those of the canonical order, bit by bit, in every world") {
  for (const WorldCase& world : worlds()) {
    for (const int64_t elements : {int64_t{16}, int64_t{1003}, int64_t{150016}}) {
      const int64_t unit = elements < 2000 ? 64 : 70000;
      std::vector<std::vector<float>> results(world.nodes.size());
      const auto errors = test::run_world(world, elements, sizeof(float), [&](test::RankView& view) {
        for (const int64_t step : {1, 2}) {
          test::fill(view.buffer, view.transport.rank(), step);
          test::reduce_all(view.transport, elements, unit, {.step = step});
        }
        results[static_cast<size_t>(view.transport.rank())].assign(view.floats(), view.floats() + elements);
      });
      INFO(world.text() << ", " << elements << " elements");
      REQUIRE(errors == no_errors(world.nodes.size()));
      const std::vector<float> wanted = test::canonical_sum(world.nodes, elements, 2);
      for (const std::vector<float>& result : results) {
        REQUIRE(std::memcmp(result.data(), wanted.data(), wanted.size() * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE("Doubles are summed as doubles") {
  for (const WorldCase& world :
       {WorldCase{{"a", "a"}}, WorldCase{{"a", "b", "b"}}, WorldCase{{"a", "a", "b"}, false}}) {
    constexpr int64_t kElements = 70000;
    std::vector<std::vector<double>> results(world.nodes.size());
    const auto errors = test::run_world(world, kElements, sizeof(double), [&](test::RankView& view) {
      test::fill(view.buffer, view.transport.rank(), 1);
      test::reduce_all(view.transport, kElements, 20000, {.step = 1});
      const auto* sums = static_cast<const double*>(view.sums);
      results[static_cast<size_t>(view.transport.rank())].assign(sums, sums + kElements);
    });
    REQUIRE(errors == no_errors(world.nodes.size()));
    for (int64_t i = 0; i < kElements; i += 777) {
      double wanted = 0.0;
      for (int rank = 0; rank < static_cast<int>(world.nodes.size()); ++rank) {
        wanted += test::contribution(rank, 1, i) * 1.0000001;
      }
      REQUIRE(std::abs(results[0][static_cast<size_t>(i)] - wanted) <= 1e-15);
    }
    for (const auto& result : results) {
      REQUIRE(result == results.front());
    }
  }
}

TEST_CASE("Each node sends 2 S (N - 1) / N bytes in two messages per pair and lane, and nothing inside") {
  constexpr int64_t kElements = 6 * 65536;  // divides evenly by all the numbers of slices below
  constexpr int64_t kBytes = kElements * 4;
  for (const auto& nodes : test::node_lists()) {
    const WorldCase world{nodes, true, 2};
    std::vector<TransportCounters> counters(nodes.size());
    std::vector<int> node_of(nodes.size()), local_ranks(nodes.size());
    int node_count = 0;
    const auto errors = test::run_world(world, kElements, sizeof(float), [&](test::RankView& view) {
      const auto rank = static_cast<size_t>(view.transport.rank());
      test::fill(view.buffer, view.transport.rank(), 1);
      const TransportCounters before = view.transport.counters();
      for (const ChannelCounters& lane : before.lanes) {
        check(lane.messages_sent == 0 && lane.header_sent == 0, "a lane was used before the first sum");
      }
      test::reduce_all(view.transport, kElements, kElements / 2, {.step = 1});
      counters[rank] = view.transport.counters();
      node_of[rank] = view.transport.node();
      local_ranks[rank] = view.transport.local_rank();
      if (rank == 0) node_count = view.transport.nodes();
    });
    INFO(world.text());
    REQUIRE(errors == no_errors(nodes.size()));
    const int64_t n = node_count;
    std::vector<int64_t> sent(static_cast<size_t>(n)), received(static_cast<size_t>(n));
    for (size_t rank = 0; rank < nodes.size(); ++rank) {
      REQUIRE(counters[rank].lanes.size() == 2);
      for (const ChannelCounters& lane : counters[rank].lanes) {
        // One unit a lane: a contribution and a result for each peer, if this rank talks to other nodes at all.
        REQUIRE((lane.messages_sent == 2 * (n - 1) || lane.messages_sent == 0));
        REQUIRE(lane.messages_received == lane.messages_sent);
        REQUIRE(lane.header_sent == lane.header_received);
        sent[static_cast<size_t>(node_of[rank])] += lane.payload_sent;
        received[static_cast<size_t>(node_of[rank])] += lane.payload_received;
      }
      REQUIRE(counters[rank].control.messages_sent == 0);
      REQUIRE(counters[rank].fp32_blocks == 0);
    }
    for (int64_t node = 0; node < n; ++node) {
      REQUIRE(sent[static_cast<size_t>(node)] == 2 * kBytes * (n - 1) / n);
      REQUIRE(received[static_cast<size_t>(node)] == 2 * kBytes * (n - 1) / n);
    }
  }
}

TEST_CASE("Flat, each rank sends every rank of other nodes that one's slice and its own") {
  constexpr int64_t kElements = 100000;
  for (const auto& nodes : test::node_lists()) {
    std::vector<ChannelCounters> counters(nodes.size());
    const auto errors = test::run_world({nodes, false}, kElements, sizeof(float), [&](test::RankView& view) {
      test::reduce_all(view.transport, kElements, kElements, {.step = 1});
      counters[static_cast<size_t>(view.transport.rank())] = view.transport.counters().lanes.at(0);
    });
    REQUIRE(errors == no_errors(nodes.size()));
    const native::Topology topology = native::make_topology(0, nodes);
    const int ranks = topology.size;
    for (int place = 0; place < ranks; ++place) {
      const auto rank = static_cast<size_t>(topology.canonical[static_cast<size_t>(place)]);
      int64_t bytes = 0, messages = 0;
      for (int other = 0; other < ranks; ++other) {
        if (nodes[static_cast<size_t>(topology.canonical[static_cast<size_t>(other)])] == nodes[rank]) continue;
        bytes += 4 * native::slice_of({0, kElements}, other, ranks).size();
        bytes += 4 * native::slice_of({0, kElements}, place, ranks).size();
        messages += 2;
      }
      REQUIRE(counters[rank].payload_sent == bytes);
      REQUIRE(counters[rank].messages_sent == messages);
      REQUIRE(counters[rank].messages_received == messages);
    }
  }
}

TEST_CASE("Headers cost 64 bytes a message and 16 a block") {
  constexpr int64_t kElements = 2 * 65536 + 32;
  const WorldCase world{{"a", "b"}};
  ChannelCounters counters;
  const auto errors = test::run_world(world, kElements, sizeof(float), [&](test::RankView& view) {
    test::reduce_all(view.transport, kElements, kElements, {.step = 1});
    if (view.transport.rank() == 0) counters = view.transport.counters().lanes.at(0);
  });
  REQUIRE(errors == no_errors(2));
  // Each slice has 65536 + 16 elements: 1 whole block and 16 elements, or 65520 and 32 on the other side of the grid.
  REQUIRE(counters.header_sent == 2 * 64 + (2 + 2) * 16);
  REQUIRE(counters.payload_sent == kElements * 4);
}

TEST_CASE("Flags of one rank reach all, with every job, also an empty one") {
  for (const WorldCase& world : worlds()) {
    std::vector<std::vector<uint32_t>> seen(world.nodes.size());
    const auto errors = test::run_world(world, 4096, sizeof(float), [&](test::RankView& view) {
      const int rank = view.transport.rank();
      auto& mine = seen[static_cast<size_t>(rank)];
      for (int raiser = 0; raiser < view.transport.size(); ++raiser) {
        const uint32_t flags = rank == raiser ? 1u << raiser : 0u;
        mine.push_back(view.transport.all_reduce(0, {.range = {0, 4096}, .step = 1, .flags = flags}));
        mine.push_back(view.transport.all_reduce(0, {.range = {512, 512}, .step = 1, .flags = flags << 8}));
        mine.push_back(view.transport.all_reduce(0, {.range = {0, 16}, .step = 1}));
      }
    });
    INFO(world.text());
    REQUIRE(errors == no_errors(world.nodes.size()));
    std::vector<uint32_t> wanted;
    for (size_t raiser = 0; raiser < world.nodes.size(); ++raiser) {
      wanted.insert(wanted.end(), {1u << raiser, 256u << raiser, 0u});
    }
    for (const auto& flags : seen) {
      REQUIRE(flags == wanted);
    }
  }
}

TEST_CASE("Sums made in between on the compute thread equal those that block") {
  constexpr int64_t kElements = 100000;
  constexpr int64_t kUnit = 160;  // more units than a ring of jobs has places
  for (const auto& nodes : {std::vector<std::string>{"a"}, {"a", "a"}, {"a", "a", "a"}}) {
    const WorldCase world{nodes};
    std::vector<std::vector<float>> results(nodes.size());
    std::vector<uint32_t> flags(nodes.size());
    const auto errors = test::run_world(world, kElements, sizeof(float), [&](test::RankView& view) {
      const int rank = view.transport.rank();
      check(view.transport.has_inline_sums(), "one node sums inline");
      test::fill(view.buffer, rank, 5);
      for (int64_t begin = 0; begin < kElements; begin += kUnit) {
        const uint32_t mine = begin == kUnit && rank == 0 ? 4u : 0u;
        view.transport.post(0, {.range = {begin, std::min(begin + kUnit, kElements)}, .step = 5, .flags = mine});
        if (begin / kUnit % 3 == rank) view.transport.progress(0);
      }
      flags[static_cast<size_t>(rank)] = view.transport.wait_posted(0);
      check(view.transport.progress(0), "nothing is open after wait_posted()");
      check(view.transport.wait_posted(0) == 0, "flags are handed out once");
      results[static_cast<size_t>(rank)].assign(view.floats(), view.floats() + kElements);
    });
    REQUIRE(errors == no_errors(nodes.size()));
    const std::vector<float> wanted = test::canonical_sum(nodes, kElements, 5);
    for (size_t rank = 0; rank < nodes.size(); ++rank) {
      REQUIRE(flags[rank] == 4u);
      REQUIRE((results[rank] == wanted));
    }
  }
}

TEST_CASE("Ranks that sum different ranges are told so, on one node and on two") {
  for (const auto& nodes : {std::vector<std::string>{"a", "a"}, {"a", "b"}, {"a", "a", "b"}}) {
    const auto errors = test::run_world({nodes}, 4096, sizeof(float), [&](test::RankView& view) {
      const int64_t end = view.transport.rank() == 1 ? 2048 : 1024;
      view.transport.all_reduce(0, {.range = {0, end}, .step = 3, .unit = 7});
    });
    for (const std::string& error : errors) {
      REQUIRE_THAT(error, Catch::Contains("disagree"));
    }
  }
}

TEST_CASE("Ranks in different collectives are told so") {
  for (const auto& nodes : {std::vector<std::string>{"a", "a"}, {"a", "b"}, {"a", "a", "b"}}) {
    const auto errors = test::run_world({nodes}, 64, sizeof(float), [](test::RankView& view) {
      char buffer[3] = {};
      if (view.transport.rank() == 1) view.transport.broadcast(buffer, 3, 1);
      view.transport.all_gather("abc");
    });
    for (const std::string& error : errors) {
      REQUIRE_THAT(error, Catch::Contains("do different things"));
    }
  }
}

TEST_CASE("Ranks with buffers of different sizes are told so by name") {
  for (const auto& nodes : {std::vector<std::string>{"a", "a"}, {"a", "b"}}) {
    const auto errors = test::run_ranks(2, [&](Bootstrap& bootstrap) {
      NativeOptions options;
      options.node = nodes[static_cast<size_t>(bootstrap.rank())];
      options.interface = "lo";
      const GradientBuffer buffer(bootstrap.rank() == 1 ? 80 : 64, sizeof(float), GradientMemory::kShared);
      const auto transport = make_native_transport(bootstrap, options);
      try {
        transport->attach(buffer, {});
      } catch (const CommError& error) {
        transport->abort(error.what());
        throw;
      }
    });
    for (const std::string& error : errors) {
      REQUIRE_THAT(error,
                   Catch::Contains("rank 1 (" + nodes[1] +
                                   ") has gradients of 80 elements of 4 bytes, rank 0 (a) of 64 elements of 4 bytes"));
    }
  }
}

TEST_CASE("Every value that is no number is reported once, with rank, index and counts, before it is summed") {
  constexpr int64_t kElements = 100000;
  for (const WorldCase& world : worlds()) {
    const int ranks = static_cast<int>(world.nodes.size());
    std::mutex mutex;
    std::vector<NonFinite> found;
    std::vector<std::vector<float>> results(world.nodes.size());
    const auto errors = test::run_world_with_options(
        world, kElements,
        [&](NativeOptions& options) {
          options.on_non_finite = [&](const NonFinite& one) {
            const std::lock_guard lock(mutex);
            found.push_back(one);
          };
        },
        [&](test::RankView& view) {
          const int rank = view.transport.rank();
          test::fill(view.buffer, rank, 1);
          auto* values = static_cast<float*>(view.buffer.data());
          if (rank == ranks - 1) values[70001] = std::numeric_limits<float>::quiet_NaN();
          if (rank == 0) values[7] = -std::numeric_limits<float>::infinity();
          test::reduce_all(view.transport, kElements, 30000, {.step = 9});
          results[static_cast<size_t>(rank)].assign(view.floats(), view.floats() + kElements);
        });
    INFO(world.text());
    REQUIRE(errors == no_errors(world.nodes.size()));
    REQUIRE(found.size() == 2);
    if (found[0].index > found[1].index) std::swap(found[0], found[1]);
    REQUIRE(found[0].rank == 0);
    REQUIRE(found[0].index == 7);
    REQUIRE(found[0].inf_count == 1);
    REQUIRE(found[0].nan_count == 0);
    REQUIRE(found[0].unit == 0);
    REQUIRE(found[1].rank == ranks - 1);
    REQUIRE(found[1].index == 70001);
    REQUIRE(found[1].nan_count == 1);
    REQUIRE(found[1].step == 9);
    REQUIRE(found[1].unit == 2);
    REQUIRE(found[1].max > 0.0);
    for (const auto& result : results) {
      REQUIRE(std::isnan(result[70001]));
      REQUIRE(result[7] == -std::numeric_limits<float>::infinity());
      REQUIRE(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(float)) == 0);
    }
  }
}

}  // namespace
}  // namespace bertft
