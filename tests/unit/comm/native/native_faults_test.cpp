// Ranks as processes: killed, stopped, aborting. Every survivor ends with the first cause.
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "comm/native/native_transport.h"
#include "core/error.h"
#include "tests/support/rank_processes.h"
#include "tests/support/test.h"
#include "tests/unit/comm/native/native_world.h"

namespace bertft {
namespace {

constexpr int64_t kElements = 200000;
constexpr double kLimit = 20.0;  // s: far more than the second in which a death is seen

// Body of a rank's process: sets a transport up, runs `work`, closes.
std::string run_rank(Bootstrap& bootstrap, const std::vector<std::string>& nodes,
                     const std::function<void(test::RankView&)>& work) {
  NativeOptions options;
  options.node = nodes[static_cast<size_t>(bootstrap.rank())];
  options.interface = "lo";
  GradientBuffer buffer(kElements, sizeof(float), GradientMemory::kShared);
  const auto transport = make_native_transport(bootstrap, options);
  try {
    test::RankView view{*transport, buffer, transport->attach(buffer, {})};
    work(view);
    transport->close();
    return "closed";
  } catch (const CommError& error) {
    transport->abort(error.what());
    check(transport->failure() == error.what(), "the error is the first cause");
    throw;
  }
}

std::vector<std::vector<std::string>> fault_worlds() {
  return {{"a", "a"}, {"a", "b"}, {"a", "a", "a"}, {"a", "a", "b", "b"}, {"a", "b", "c"}};
}

void expect_named(const std::vector<test::RankEnd>& ends, int victim, const std::string& cause) {
  for (int rank = 0; rank < static_cast<int>(ends.size()); ++rank) {
    const test::RankEnd& end = ends[static_cast<size_t>(rank)];
    if (rank == victim) continue;
    INFO("rank " << rank);
    REQUIRE(end.signal == 0);
    REQUIRE(end.exit_code == 4);
    REQUIRE_THAT(end.text, Catch::Contains(cause));
  }
}

TEST_CASE("A rank that is killed in the middle of sums is named by all others") {
  for (const auto& nodes : fault_worlds()) {
    for (const int victim : {0, static_cast<int>(nodes.size()) - 1}) {
      test::RankProcesses ranks(static_cast<int>(nodes.size()), [&](Bootstrap& bootstrap) {
        return run_rank(bootstrap, nodes, [&](test::RankView& view) {
          for (int64_t step = 1;; ++step) {
            test::reduce_all(view.transport, kElements, 50000, {.step = step});
            if (step == 20 && view.transport.rank() == victim) test::set_mark();
          }
        });
      });
      ranks.wait_for_mark(victim);
      ::kill(ranks.pid(victim), SIGKILL);
      expect_named(ranks.wait(kLimit), victim,
                   "rank " + std::to_string(victim) + " (" + nodes[static_cast<size_t>(victim)] + ") is gone");
    }
  }
}

TEST_CASE("A rank that is killed while it computes is named by all that wait for it, in every kind of wait") {
  for (const auto& nodes : fault_worlds()) {
    for (const int kind : {0, 1, 2, 3}) {
      const int victim = 1;
      test::RankProcesses ranks(static_cast<int>(nodes.size()), [&](Bootstrap& bootstrap) {
        return run_rank(bootstrap, nodes, [&](test::RankView& view) {
          if (view.transport.rank() == victim) {
            test::set_mark();
            for (;;) {
              ::pause();
            }
          }
          std::string buffer(100, ' ');
          if (kind == 0) view.transport.all_reduce(0, {.range = {0, kElements}, .step = 1});
          if (kind == 1) view.transport.barrier();
          if (kind == 2) view.transport.broadcast(buffer.data(), buffer.size(), victim);
          if (kind == 3) view.transport.receive(-1.0);
          view.transport.barrier();
        });
      });
      ranks.wait_for_mark(victim);
      ::kill(ranks.pid(victim), SIGKILL);
      expect_named(ranks.wait(kLimit), victim, "rank 1 (" + nodes[1] + ") is gone");
    }
  }
}

TEST_CASE("A rank that aborts tells all others why, and they pass it on as it came") {
  for (const auto& nodes : fault_worlds()) {
    test::RankProcesses ranks(static_cast<int>(nodes.size()), [&](Bootstrap& bootstrap) {
      return run_rank(bootstrap, nodes, [&](test::RankView& view) {
        if (view.transport.rank() == 1) {
          view.transport.abort("the loss is no number");
          view.transport.barrier();
        }
        view.transport.all_reduce(0, {.range = {0, kElements}, .step = 1});
      });
    });
    expect_named(ranks.wait(kLimit), -1, "error: rank 1 (" + nodes[1] + "): the loss is no number");
  }
}

TEST_CASE("A rank that leaves without a good-bye is taken for dead") {
  test::RankProcesses ranks(3, [&](Bootstrap& bootstrap) {
    return run_rank(bootstrap, {"a", "a", "b"}, [&](test::RankView& view) {
      if (view.transport.rank() == 1) ::_exit(0);
      view.transport.barrier();
    });
  });
  expect_named(ranks.wait(kLimit), 1, "rank 1 (a) is gone");
}

TEST_CASE("Ranks that say good-bye may end") {
  test::RankProcesses ranks(3, [&](Bootstrap& bootstrap) {
    return run_rank(bootstrap, {"a", "a", "b"}, [](test::RankView&) {});
  });
  for (const test::RankEnd& end : ranks.wait(kLimit)) {
    REQUIRE(end.text == "closed");
    REQUIRE(end.exit_code == 0);
  }
}

TEST_CASE("A rank that stands still is named as waited for, and all go on when it does") {
  for (const auto& nodes : {std::vector<std::string>{"a", "a"}, {"a", "b"}}) {
    test::RankProcesses ranks(2, [&](Bootstrap& bootstrap) {
      return run_rank(bootstrap, nodes, [&](test::RankView& view) {
        if (view.transport.rank() == 1) {
          test::set_mark();
          ::raise(SIGSTOP);
        }
        std::thread watcher([&] {
          for (;;) {
            for (const TransportWait& wait : view.transport.waits()) {
              if (wait.ranks == std::vector<int>{1} && wait.step == 4 && wait.unit == 2) return test::set_mark();
            }
            if (view.transport.rank() == 1) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          }
        });
        view.transport.all_reduce(0, {.range = {0, kElements}, .step = 4, .unit = 2});
        watcher.join();
      });
    });
    ranks.wait_for_mark(1);
    ranks.wait_for_mark(0);
    ::kill(ranks.pid(1), SIGCONT);
    for (const test::RankEnd& end : ranks.wait(kLimit)) {
      REQUIRE(end.text == "closed");
    }
  }
}

TEST_CASE("A wait that takes too long ends with the names of those that have not come") {
  for (const auto& nodes : {std::vector<std::string>{"a", "a"}, {"a", "b"}}) {
    const auto errors = test::run_world_with_options(
        {nodes}, 4096, [](NativeOptions& options) { options.wait_limit_s = 0.3; },
        [](test::RankView& view) {
          if (view.transport.rank() == 1) {
            view.transport.receive(-1.0);  // until the other one gives up
            return;
          }
          view.transport.all_reduce(0, {.range = {0, 4096}, .step = 6, .unit = 3});
        });
    for (const std::string& error : errors) {
      REQUIRE_THAT(error, Catch::Contains("lane 0, step 6, unit 3: waited 0.3 s for") &&
                              Catch::Contains("rank 1 (" + nodes[1] + ")"));
    }
  }
}

}  // namespace
}  // namespace bertft
