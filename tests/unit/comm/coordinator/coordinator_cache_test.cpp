// Cached tensors over several ranks: order, waiting hits, eviction, changed shapes; the caches of all ranks stay equal.
#include "core/error.h"
#include "tests/support/test.h"
#include "tests/unit/comm/coordinator/coordinator_world.h"

namespace bertft {

namespace {

using Groups = std::vector<std::vector<int>>;

void all_know_the_same(CoordinatorWorld& world) {
  for (int rank = 1; rank < world.size(); ++rank) {
    CHECK(world.cached(rank) == world.cached(0));
    CHECK(world.rounds(rank) == world.rounds(0));
  }
}

std::vector<std::string> names(const std::vector<int>& units) {
  std::vector<std::string> names;
  for (const int unit : units) {
    names.push_back("unit." + std::to_string(unit));
  }
  return names;
}

void change_on_all(CoordinatorWorld& world, int unit, const TensorTraits& traits) {
  for (int rank = 0; rank < world.size(); ++rank) {
    world.rank(rank).change_traits(unit, traits);
  }
}

}  // namespace

TEST_CASE("tensors are added up in the order of rank 0 first and in that of their bits later") {
  CoordinatorWorld world({.size = 3, .fusion = {.threshold_bytes = 0}}, plain_units(3));
  world.step_begin(0);
  for (const int unit : {2, 0, 1}) {
    world.mark(unit);
  }
  world.cycle();
  CHECK(world.rounds(2).back().groups == Groups{{2}, {0}, {1}});
  CHECK(world.cached(2) == names({2, 0, 1}));
  world.step_begin(1);
  world.mark(0);  // alone: it becomes the most recently used one
  world.cycle();
  CHECK(world.rounds(2).back().groups == Groups{{0}});
  CHECK(world.cached(2) == names({2, 1, 0}));
  world.mark(1);
  world.mark(2);
  world.cycle();
  CHECK(world.rounds(2).back().groups == Groups{{2}, {1}});  // by bit, not by order of announcement
  world.step_begin(2);
  for (const int unit : {1, 2, 0}) {
    world.mark(unit);
  }
  world.cycle();
  CHECK(world.rounds(2).back().groups == Groups{{0}, {2}, {1}});  // the bits were dealt anew: least recently used first
  all_know_the_same(world);
}

TEST_CASE("a hit that not all ranks have waits, and nothing is sent to rank 0 for it") {
  CoordinatorWorld world({.size = 3}, plain_units(2));
  world.step_begin(0);
  world.mark(0);
  world.mark(1);
  world.cycle();
  world.step_begin(1);
  const CycleCounts requests = world.sent(CycleStage::kRequests);
  world.mark(0, {0, 2});
  world.mark(1);
  world.cycle();
  CHECK(world.rounds(1).back().groups == Groups{{1}});
  world.cycle();
  CHECK(world.rounds(1).size() == 2);
  world.mark(0, {1});
  world.cycle();
  CHECK(world.rounds(1).back().groups == Groups{{0}});
  CHECK(world.sent(CycleStage::kRequests).messages == requests.messages);
  all_know_the_same(world);
}

TEST_CASE("with a miss anywhere, common hits go the slow path, in front") {
  CoordinatorWorld world({.size = 2, .fusion = {.threshold_bytes = 0}}, plain_units(3));
  world.step_begin(0);
  world.mark(1);
  world.cycle();
  world.mark(0);
  world.mark(2);
  world.cycle();
  world.step_begin(1);
  change_on_all(world, 0, {.shape = {5}});
  for (const int unit : {0, 1, 2}) {
    world.mark(unit);
  }
  world.cycle();
  CHECK(world.rounds(1).back().groups == Groups{{1}, {2}, {0}});
  CHECK(world.cached(1) == names({1, 2, 0}));
  all_know_the_same(world);
}

TEST_CASE("caches stay equal when there are more tensors than places") {
  for (const int capacity : {1, 2, 3, 7}) {
    CoordinatorWorld world({.size = 4, .cache_capacity = capacity, .fusion = {.threshold_bytes = 32}}, plain_units(8));
    for (int64_t step = 0; step < 6; ++step) {
      world.step_begin(step);
      for (int i = 0; i < 8; ++i) {
        // Every rank has another order; cycles in between see some tensors on some ranks only.
        for (int rank = 0; rank < 4; ++rank) {
          world.rank(rank).mark_ready((i * 3 + rank * 5 + static_cast<int>(step)) % 8);
        }
        world.cycle();
        all_know_the_same(world);
        CHECK(world.cached(0).size() <= static_cast<size_t>(capacity));
      }
      CHECK(world.rank(3).step_done());
    }
    CHECK(world.rank(2).cycle().cache().evictions() > 0);
  }
}

TEST_CASE("a hit whose entry is evicted while it waits goes the slow way") {
  CoordinatorWorld world({.size = 2, .cache_capacity = 2}, plain_units(3));
  world.step_begin(0);
  for (const int unit : {0, 1, 2}) {  // 1 and 2 stay cached
    world.mark(unit);
    world.cycle();
  }
  CHECK(world.cached(1) == names({1, 2}));
  world.step_begin(1);
  world.mark(1, {0});  // a hit that waits for rank 1
  world.mark(0);       // a miss, which evicts 1
  world.cycle();
  CHECK(world.cached(1) == names({2, 0}));
  world.mark(1, {1});
  world.cycle();
  CHECK(world.rounds(0).back().groups == Groups{{1}});
  CHECK(world.cached(1) == names({0, 1}));
  world.mark(2);
  world.cycle();
  CHECK(world.rank(0).step_done());
  all_know_the_same(world);
}

TEST_CASE("a tensor that changes its shape on all ranks is erased everywhere and agreed anew") {
  CoordinatorWorld world({.size = 5}, plain_units(3));
  for (int64_t step = 0; step < 2; ++step) {
    world.step_begin(step);
    for (const int unit : {0, 1, 2}) {
      world.mark(unit);
    }
    world.cycle();
  }
  world.step_begin(2);
  change_on_all(world, 1, {.shape = {6, 2}});
  world.mark(1, {2});  // one rank is early: its bit is erased on all, and rank 0 counts
  world.mark(0);
  world.cycle();
  CHECK(world.rounds(4).back().groups == Groups{{0}});
  CHECK(world.cached(4) == names({2, 0}));
  world.mark(1, {0, 1, 3, 4});
  world.cycle();
  CHECK(world.rounds(4).back().groups == Groups{{1}});
  CHECK(world.cached(4) == names({2, 0, 1}));
  world.mark(2);
  world.cycle();
  all_know_the_same(world);
  const CycleCounts slow = world.sent(CycleStage::kResponses);
  world.step_begin(3);
  world.mark(1);
  world.cycle();
  CHECK(world.rounds(4).back().groups == Groups{{1}});
  CHECK(world.sent(CycleStage::kResponses).messages == slow.messages);  // with its new shape it is a hit again
}

TEST_CASE("a shape that changes on one rank only is an error on all ranks, which names it") {
  CoordinatorWorld world({.size = 3}, plain_units(2));
  world.step_begin(0);
  world.mark(0);
  world.mark(1);
  world.cycle();
  world.step_begin(1);
  world.rank(2).change_traits(1, {.shape = {5}});
  world.mark(0);
  world.mark(1, {0, 1});
  world.cycle();
  CHECK(world.rounds(0).back().groups == Groups{{0}});
  world.mark(1, {2});
  world.cycle();
  for (int rank = 0; rank < 3; ++rank) {
    const auto failures = world.rank(rank).take_failures();
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].unit == 1);
    CHECK(failures[0].text == "tensor unit.1: mismatched shapes: [4] on ranks 0, 1; [5] on rank 2");
    CHECK_FALSE(world.rank(rank).step_done());
    CHECK(world.rank(rank).pending_units().empty());
  }
  CHECK(world.cached(1) == names({0}));
  all_know_the_same(world);
}

}  // namespace bertft
