// Stalls: who is missing is named, cached tensors included, and a stall may end the job.
#include "comm/coordinator/coordinator_stall.h"

#include "tests/support/test.h"
#include "tests/unit/comm/coordinator/coordinator_world.h"

namespace bertft {
using Catch::Contains;

namespace {

using Missing = std::map<int, std::vector<std::string>>;

}  // namespace

TEST_CASE("tensors that some ranks have not announced are reported after the time to warn, with the ranks") {
  TensorNames names;
  const int a = names.number("a");
  const int b = names.number("b");
  CoordinatorStall stall(3, {.warn_s = 5.0});
  CHECK_FALSE(stall.is_due(100.0));
  stall.announced(b, 0, 100.0);
  stall.announced(a, 1, 101.0);
  stall.announced(a, 0, 104.0);
  CHECK_FALSE(stall.is_due(105.0));
  CHECK(stall.is_due(105.5));
  const auto first = stall.report(105.5, names);
  REQUIRE(first);
  CHECK(first->missing == Missing{{1, {"b"}}, {2, {"b"}}});
  CHECK_FALSE(first->is_shutdown);
  CHECK_THAT(first->text, Contains("more than 5 s") && Contains("\n  1: b") && Contains("\n  2: b"));
  stall.checked(105.5);
  CHECK_FALSE(stall.is_due(110.5));
  CHECK(stall.is_due(110.6));
  stall.announced(b, 1, 106.0);
  CHECK(stall.report(110.6, names)->missing == Missing{{2, {"a", "b"}}});
  stall.answered(a);
  stall.answered(b);
  CHECK_FALSE(stall.report(200.0, names));
}

TEST_CASE("a stall report names at most six tensors a rank") {
  TensorNames names;
  CoordinatorStall stall(2, {.warn_s = 1.0});
  for (const char* name : {"t7", "t6", "t5", "t4", "t3", "t2", "t1", "t0"}) {
    stall.announced(names.number(name), 0, 0.0);
  }
  const auto report = stall.report(2.0, names);
  REQUIRE(report);
  CHECK(report->missing.at(1).size() == 8);
  CHECK_THAT(report->text, Contains("1: t0, t1, t2, t3, t4, t5 and 2 more"));
}

TEST_CASE("after the time to shut down the report says so and marks the ranks") {
  TensorNames names;
  const int a = names.number("a");
  CoordinatorStall stall(3, {.warn_s = 5.0, .shutdown_s = 20.0});
  stall.announced(a, 0, 0.0);
  stall.announced(a, 2, 0.0);
  CHECK_FALSE(stall.report(20.0, names)->is_shutdown);
  const auto report = stall.report(20.5, names);
  CHECK(report->is_shutdown);
  CHECK_THAT(report->text, Contains("\n  1!: a") && Contains("shutting down"));
  CoordinatorStall never(3, {.warn_s = 5.0, .shutdown_s = 4.0});  // below the time to warn: as Horovod, no shutdown
  never.announced(a, 0, 0.0);
  CHECK_FALSE(never.report(100.0, names)->is_shutdown);
  CoordinatorStall off(3, {.warn_s = 0.0});
  CHECK_FALSE(off.is_due(0.0));
  CHECK_FALSE(off.is_due(1000.0));
}

TEST_CASE("hits that wait for too long are overdue, and only those") {
  CoordinatorStall stall(2, {.warn_s = 5.0});
  stall.hit_waits(3, 0.0);
  stall.hit_waits(3, 4.0);  // it waits since 0
  stall.hit_waits(1, 2.0);
  stall.hit_waits(7, 0.0);
  stall.hit_ends(7);
  stall.hit_ends(70);
  CHECK(stall.overdue_hits(5.0).empty());
  CHECK(stall.overdue_hits(5.5) == std::vector<int>{3});
  CHECK(stall.overdue_hits(7.5) == std::vector<int>{1, 3});
}

TEST_CASE("an uncached tensor that a rank does not announce is reported by rank 0 alone") {
  CoordinatorWorld world({.size = 4, .stall = {.warn_s = 5.0}}, plain_units(2));
  world.step_begin(0);
  world.mark(0, {0, 1, 3});
  world.mark(1);
  for (int second = 0; second <= 11; ++second) {
    world.cycle(second);
  }
  const auto reports = world.rank(0).take_stall_reports();
  REQUIRE(reports.size() == 1);  // checks at 6 s and at 12 s; announced at 0 s
  CHECK(reports[0].missing == Missing{{2, {"unit.0"}}});
  for (const int rank : {1, 2, 3}) {
    CHECK(world.rank(rank).take_stall_reports().empty());
  }
  world.mark(0, {2});
  world.cycle(20.0);
  CHECK(world.rank(3).step_done());
  world.cycle(40.0);
  CHECK(world.rank(0).take_stall_reports().size() <= 1);
}

TEST_CASE("a cached tensor that waits for too long is erased on all ranks, so that rank 0 can name who is late") {
  CoordinatorWorld world({.size = 4, .stall = {.warn_s = 5.0}}, plain_units(3));
  world.step_begin(0);
  for (const int unit : {0, 1, 2}) {
    world.mark(unit);
  }
  world.cycle(0.0);
  world.step_begin(1);
  world.mark(0, {0, 1, 3});
  world.mark(1);
  std::vector<CoordinatorStallReport> reports;
  int erased_at = 0;
  int reported_at = 0;
  for (int second = 1; second <= 30 && reports.empty(); ++second) {
    world.cycle(second);
    reports = world.rank(0).take_stall_reports();
    reported_at = second;
    if (erased_at == 0 && world.cached(2).size() == 2) {
      erased_at = second;
    }
  }
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].missing == Missing{{2, {"unit.0"}}});
  CHECK(erased_at == 12);    // checks happen after 5 s at the earliest: 6 (it has waited for 5 s, not more) and 12
  CHECK(reported_at == 18);  // rank 0 knows of it since 12; the next check comes later than 17
  CHECK(world.rounds(2).back().groups == std::vector<std::vector<int>>{{1}});
  world.mark(0, {2});
  world.cycle(30.0);
  CHECK(world.rounds(2).back().groups == std::vector<std::vector<int>>{{0}});
  CHECK(world.cached(2) == world.cached(0));
  CHECK(world.cached(2).size() == 3);
  world.mark(2);
  world.cycle(31.0);
  CHECK(world.rank(1).step_done());
}

TEST_CASE("a stall beyond the time to shut down ends all ranks in the same cycle") {
  for (const int capacity : {0, 8}) {
    CoordinatorWorld world({.size = 3, .cache_capacity = capacity, .stall = {.warn_s = 2.0, .shutdown_s = 6.0}},
                           plain_units(1));
    world.step_begin(0);
    world.mark(0, {0, 1});
    int second = 0;
    while (!world.rank(0).is_shut_down() && second < 60) {
      world.cycle(++second);
    }
    CHECK(second == 10);  // announced at 1; checks at 4, 7 (6 s: not more than 6) and 10
    CHECK(world.rank(1).is_shut_down());
    CHECK(world.rank(2).is_shut_down());
    CHECK(world.rank(1).pending_units() == std::vector<int>{0});
    const auto reports = world.rank(0).take_stall_reports();
    REQUIRE_FALSE(reports.empty());
    CHECK(reports.back().is_shutdown);
  }
}

}  // namespace bertft
