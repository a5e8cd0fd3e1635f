// Ranks as processes that are killed or stand still while a job is set up or says good-bye: all others end with the
// name of that rank.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "comm/native/native_transport.h"
#include "comm/rank_link.h"
#include "core/error.h"
#include "tests/support/hooked_bootstrap.h"
#include "tests/support/rank_processes.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

constexpr double kLimit = 40.0;  // s: far more than any of it takes

enum class Stage { kConnect, kOpen, kAttach, kClose };

struct SetUpFault {
  std::vector<std::string> nodes;
  int victim = 0;
  Stage stage = Stage::kOpen;
  std::function<void()> strike;  // on the victim
};

// What ends a rank whose main thread does not take notice.
void end_process(const std::string&) { ::_exit(static_cast<int>(ExitCode::kComm)); }

std::string run_rank(Bootstrap& bootstrap, const SetUpFault& fault) {
  const auto at = [&](Stage stage) {
    if (bootstrap.rank() == fault.victim && stage == fault.stage) fault.strike();
  };
  test::HookedBootstrap hooked(bootstrap, [&] { at(Stage::kConnect); });
  NativeOptions options;
  options.node = fault.nodes[static_cast<size_t>(bootstrap.rank())];
  options.interface = "lo";
  options.connect_timeout_s = 4.0;
  GradientBuffer buffer(10000, sizeof(float), GradientMemory::kShared);
  RankLink link(make_world(bootstrap.rank(), fault.nodes, fault.nodes), connect_native_transport(hooked, options),
                {.stall = {0.5, 2.0}, .end_process = end_process}, std::make_shared<NonFiniteLog>());
  try {
    at(Stage::kOpen);
    link.open();
    at(Stage::kAttach);
    {
      const RankWatch::Waiting here(link.watch());
      link.transport().attach(buffer, {});
    }
    at(Stage::kClose);
    link.close();
    return "closed";
  } catch (const std::exception& failure) {
    link.abort(failure.what());
    throw;
  }
}

void expect_named(const SetUpFault& fault, const std::vector<std::string>& parts) {
  test::RankProcesses ranks(static_cast<int>(fault.nodes.size()),
                            [&](Bootstrap& bootstrap) { return run_rank(bootstrap, fault); });
  const std::vector<test::RankEnd> ends = ranks.wait(kLimit);
  const std::string name =
      "rank " + std::to_string(fault.victim) + " (" + fault.nodes[static_cast<size_t>(fault.victim)];
  for (int rank = 0; rank < static_cast<int>(ends.size()); ++rank) {
    if (rank == fault.victim) continue;
    const test::RankEnd& end = ends[static_cast<size_t>(rank)];
    CAPTURE(rank, fault.victim, static_cast<int>(fault.stage), fault.nodes.size());
    REQUIRE(end.signal == 0);
    REQUIRE(end.exit_code == 4);
    REQUIRE_THAT(end.text, Catch::Contains(name));
    for (const std::string& part : parts) REQUIRE_THAT(end.text, Catch::Contains(part));
  }
}

void die() { ::raise(SIGKILL); }
void come_late() { std::this_thread::sleep_for(std::chrono::seconds(8)); }
void stand_still() { std::this_thread::sleep_for(std::chrono::seconds(60)); }

std::vector<std::vector<std::string>> worlds() { return {{"a", "a"}, {"a", "b"}, {"a", "a", "b", "b"}}; }

TEST_CASE("A rank that is killed between any two places of the set-up is named by all others") {
  for (const auto& nodes : worlds()) {
    for (const Stage stage : {Stage::kOpen, Stage::kAttach, Stage::kClose}) {
      for (const int victim : {0, static_cast<int>(nodes.size()) - 1}) {
        expect_named({nodes, victim, stage, die}, {"is gone"});
      }
    }
  }
}

// Who calls a dead rank of its own node knows, and tells those that wait to be called.
TEST_CASE("A rank that is killed while ranks connect is named by all others") {
  expect_named({{"a", "a", "a"}, 0, Stage::kConnect, die}, {"is gone"});
  expect_named({{"a", "a", "a"}, 1, Stage::kConnect, die}, {"is gone"});
  expect_named({{"a", "b", "b"}, 1, Stage::kConnect, die}, {"is gone"});
  expect_named({{"a", "a", "b", "b"}, 2, Stage::kConnect, die}, {"is gone"});
}

TEST_CASE("A rank that comes too late is named when the time to connect is over") {
  expect_named({{"a", "a"}, 1, Stage::kConnect, come_late}, {"connections do not stand", "has not called"});
  expect_named({{"a", "b", "b"}, 2, Stage::kConnect, come_late}, {"connections do not stand", "has not called"});
}

TEST_CASE("A rank that stands still in the set-up or before its good-bye is named and ends the job") {
  for (const auto& nodes : worlds()) {
    for (const Stage stage : {Stage::kOpen, Stage::kAttach, Stage::kClose}) {
      expect_named({nodes, 1, stage, stand_still}, {"no progress (comm.stall_abort_s)", "waiting for rank "});
    }
  }
}

}  // namespace
}  // namespace bertft
