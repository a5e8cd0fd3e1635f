// Steps, flags, shutdown, mismatches and wrong use of the controller, in lockstep.
#include "comm/coordinator/coordinator_controller.h"

#include "core/error.h"
#include "tests/support/test.h"
#include "tests/unit/comm/coordinator/coordinator_world.h"

namespace bertft {
using Catch::Contains;

namespace {

using Groups = std::vector<std::vector<int>>;

}  // namespace

TEST_CASE("a world of one agrees within the tick and sends nothing") {
  CoordinatorController alone({}, plain_units(3));
  for (int64_t step = 10; step < 12; ++step) {
    alone.step_begin(step);
    alone.mark_ready(2);
    alone.mark_ready(0);
    alone.tick(0.0);
    CHECK_FALSE(alone.is_running());
    alone.mark_ready(1);
    alone.tick(0.001);
    CHECK(alone.step_done());
    CHECK(alone.step_end() == 0);
    CHECK(alone.take_agreed() == std::vector<AgreedRound>{{step, 0, {{2, 0}}, 0}, {step, 1, {{1}}, 0}});
    CHECK(alone.take_messages().empty());
  }
}

TEST_CASE("a world of one works without a cache, too") {
  CoordinatorController alone({.cache_capacity = 0}, plain_units(2));
  alone.step_begin(0);
  alone.mark_ready(1);
  alone.raise(kFlagSave);
  alone.tick(0.0);
  CHECK(alone.take_agreed() == std::vector<AgreedRound>{{0, 0, {{1}}, kFlagSave}});
}

TEST_CASE("wrong use is refused") {
  CoordinatorController controller({.size = 2}, plain_units(2));
  CHECK_THROWS_AS(controller.mark_ready(0), InternalError);  // before the first step
  controller.step_begin(0);
  CHECK_THROWS_AS(controller.step_begin(1), InternalError);
  controller.mark_ready(0);
  CHECK_THROWS_AS(controller.mark_ready(0), InternalError);
  CHECK_THROWS_AS(controller.mark_ready(2), InternalError);
  CHECK_FALSE(controller.step_done());
  CHECK_THROWS_AS(controller.step_end(), InternalError);
  controller.tick(0.0);
  CHECK(controller.is_running());
  CHECK_THROWS_AS(controller.tick(0.0), InternalError);
  CHECK_THROWS_AS(CoordinatorController({}, {{"same", {}}, {"same", {}}}), InternalError);
}

TEST_CASE("a name that is in flight is refused by the queue, naming it") {
  CoordinatorCycle cycle({.size = 2}, nullptr);
  const auto traits = std::make_shared<const TensorTraits>();
  cycle.announce(cycle.names().number("encoder.weight"), traits);
  CHECK_THROWS_WITH(cycle.announce(0, traits), Contains("encoder.weight") && Contains("again"));
  CHECK_THROWS_AS(cycle.announce(1, std::make_shared<const TensorTraits>(TensorTraits{.shape = {-1}})), InternalError);
}

TEST_CASE("mismatched types and operations are errors on all ranks") {
  CoordinatorWorld types({.size = 3}, plain_units(2), [](int rank, std::vector<TensorSpec>& units) {
    units[0].traits.type = rank == 1 ? TensorType::kFloat16 : TensorType::kFloat32;
    units[1].traits.op = rank == 0 ? ReduceOp::kMax : ReduceOp::kSum;
  });
  types.step_begin(0);
  types.mark(0);
  types.mark(1);
  types.cycle();
  for (int rank = 0; rank < 3; ++rank) {
    const auto failures = types.rank(rank).take_failures();
    REQUIRE(failures.size() == 2);
    CHECK(failures[0].text == "tensor unit.0: mismatched data types: float32 on ranks 0, 2; float16 on rank 1");
    CHECK(failures[1].text == "tensor unit.1: mismatched operations: max on rank 0; sum on ranks 1, 2");
    CHECK(types.rounds(rank).empty());
  }
}

TEST_CASE("ranks with other names wait for ever, which the stall check tells") {
  CoordinatorWorld world(
      {.size = 2, .cache_capacity = 0, .stall = {.warn_s = 5.0}}, plain_units(1),
      [](int rank, std::vector<TensorSpec>& units) { units[0].name = rank == 1 ? "bert.pooler" : "pooler"; });
  world.step_begin(0);
  world.mark(0);
  for (int second = 0; second < 13; ++second) {
    world.cycle(second);
  }
  CHECK(world.rounds(0).empty());
  const auto reports = world.rank(0).take_stall_reports();
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].missing == std::map<int, std::vector<std::string>>{{0, {"bert.pooler"}}, {1, {"pooler"}}});
}

TEST_CASE("one rank's shutdown ends the loop of all in the same cycle, with what is agreed in it") {
  for (const int capacity : {0, 16}) {
    for (int asker = 0; asker < 3; ++asker) {
      CoordinatorWorld world({.size = 3, .cache_capacity = capacity}, plain_units(2));
      world.step_begin(0);
      world.mark(0);
      world.mark(1, {1});
      world.rank(asker).request_shutdown();
      world.cycle();
      for (int rank = 0; rank < 3; ++rank) {
        CHECK(world.rank(rank).is_shut_down());
        CHECK(world.rounds(rank) == std::vector<AgreedRound>{{0, 0, {{0}}, 0}});
        CHECK(world.rank(rank).pending_units() == (rank == 1 ? std::vector<int>{1} : std::vector<int>{}));
        CHECK_THROWS_AS(world.rank(rank).tick(1.0), InternalError);
      }
    }
  }
}

TEST_CASE("a shutdown on the fast path and in an idle cycle ends all ranks as well") {
  for (const bool is_idle : {false, true}) {
    CoordinatorWorld world({.size = 3}, plain_units(1));
    world.step_begin(0);
    world.mark(0);
    world.cycle();
    world.step_begin(1);
    if (!is_idle) {
      world.mark(0);
    }
    world.rank(2).request_shutdown();
    world.cycle();
    CHECK(world.rank(0).is_shut_down());
    CHECK(world.rank(1).is_shut_down());
    CHECK(world.rounds(1).size() == (is_idle ? 1u : 2u));
  }
}

TEST_CASE("flags belong to the first step that was not wholly agreed before their cycle") {
  for (const int capacity : {0, 16}) {
    CoordinatorWorld world({.size = 3, .cache_capacity = capacity}, plain_units(2));
    const auto ends = [&](const std::vector<int>& ranks, uint32_t flags) {
      for (const int rank : ranks) {
        REQUIRE(world.rank(rank).step_done());
        CHECK(world.rank(rank).step_end() == flags);
      }
    };
    world.rank(1).raise(kFlagSave);  // before any step: it belongs to the first one
    world.cycle();
    for (int rank = 0; rank < 3; ++rank) {
      world.rank(rank).step_begin(100);
    }
    world.mark(0);
    world.rank(2).raise(kFlagNonFinite);
    world.cycle();
    world.mark(1);
    world.rank(0).raise(kFlagStop);  // in the cycle that ends the step
    world.cycle();
    world.rank(1).raise(kFlagAbort);  // in a cycle after it
    ends({0}, kFlagSave | kFlagNonFinite | kFlagStop);
    world.rank(0).step_begin(101);  // ranks 1 and 2 are late
    world.cycle();
    ends({1, 2}, kFlagSave | kFlagNonFinite | kFlagStop);
    world.rank(1).step_begin(101);
    world.rank(2).raise(kFlagSurprise);
    world.cycle();
    world.rank(2).step_begin(101);
    world.mark(0);
    world.mark(1);
    world.cycle();
    ends({0, 1, 2}, kFlagAbort | kFlagSurprise);
    for (int rank = 0; rank < 3; ++rank) {
      CHECK(world.rounds(rank) == std::vector<AgreedRound>{{100, 0, {{0}}, kFlagNonFinite},
                                                           {100, 1, {{1}}, kFlagStop},
                                                           {101, 0, {{0, 1}}, 0}});
    }
  }
}

}  // namespace bertft
