#include "comm/stall_watch.h"

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

World world_of(int rank, int size) {
  return make_world(rank, std::vector<std::string>(static_cast<size_t>(size), "n"),
                    std::vector<std::string>(static_cast<size_t>(size), "host"));
}

RankStatus waits(int64_t point) { return {point, true, 3, 0, ""}; }
RankStatus works(int64_t point, uint64_t pieces) { return {point, false, 3, pieces, "evaluating"}; }

TEST_CASE("a status survives its bytes") {
  const RankStatus back = unpacked_status(packed({7, true, 5, 9, "saving"}));
  CHECK(back.point == 7);
  CHECK(back.is_waiting);
  CHECK(back.step == 5);
  CHECK(back.pieces == 9);
  CHECK(back.phase == "saving");
  CHECK_THROWS_AS(unpacked_status("short"), CommError);
}

TEST_CASE("only ranks that do not wait at the same place are late") {
  const World world = world_of(1, 4);
  StallWatch watch(world, {.warn_s = 4.0, .abort_s = 8.0});
  watch.wait_begins(10, 100.0);
  std::optional<StallWatch::Report> report;
  int warnings = 0;
  double now = 100.0;
  for (; now < 120.0 && !(report && report->is_fatal); now += 0.25) {
    watch.heard(0, waits(10), now);
    watch.heard(2, waits(11), now);
    report = watch.look(now);
    if (!report) continue;
    CHECK(report->late.find("rank 3 (host), which has said nothing") == 0);
    CHECK(report->late.find(";") == std::string::npos);
    CHECK_FALSE(report->is_speaker);  // rank 0 is
    if (!report->is_fatal) ++warnings;
  }
  CHECK(warnings == 1);
  CHECK(now == Approx(108.25));
}

TEST_CASE("a late rank that gets on is waited for, one that does not is a stall") {
  const World world = world_of(0, 2);
  StallWatch watch(world, {.warn_s = 1.0, .abort_s = 5.0});
  watch.wait_begins(10, 0.0);
  double now = 0.0;
  uint64_t pieces = 0;
  for (; now < 60.0; now += 0.125) {
    watch.heard(1, works(9, pieces++ / 4), now);  // two pieces a second
    REQUIRE_FALSE(watch.look(now));
  }
  std::optional<StallWatch::Report> report;
  for (; now < 80.0 && !(report && report->is_fatal); now += 0.125) {
    watch.heard(1, works(9, 1000), now);
    report = watch.look(now);
  }
  REQUIRE(report);
  CHECK(report->is_fatal);
  CHECK(report->is_speaker);
  CHECK(now < 66.0);
  CHECK(report->late.find("rank 1 (host), which is evaluating in step 3 and has not got on for 5 s") == 0);
}

TEST_CASE("a process that was stopped itself has not waited meanwhile") {
  const World world = world_of(0, 2);
  StallWatch watch(world, {.warn_s = 5.0, .abort_s = 10.0});
  watch.wait_begins(1, 0.5);
  REQUIRE_FALSE(watch.look(0.6));
  REQUIRE_FALSE(watch.look(1000.0));
  REQUIRE_FALSE(watch.look(1000.5));
}

TEST_CASE("nothing is announced while nobody waits") {
  const World world = world_of(0, 3);
  StallWatch watch(world, {.warn_s = 4.0, .abort_s = 8.0});
  for (double now = 0.0; now < 20.0; now += 0.5) REQUIRE_FALSE(watch.has_to_announce(now));
  watch.heard(2, waits(1), 20.0);
  CHECK(watch.has_to_announce(20.0));
  CHECK_FALSE(watch.has_to_announce(20.5));
  CHECK(watch.has_to_announce(21.0));
  CHECK_FALSE(watch.has_to_announce(30.0));  // the one that asked has gone on
  watch.wait_begins(1, 30.0);
  CHECK_FALSE(watch.has_to_announce(30.5));
  CHECK(watch.has_to_announce(31.5));
  StallWatch off(world, {.warn_s = 0.0, .abort_s = 0.0});
  off.wait_begins(1, 0.0);
  CHECK_FALSE(off.has_to_announce(50.0));
  CHECK_FALSE(off.look(50.0));
}

}  // namespace
}  // namespace bertft
