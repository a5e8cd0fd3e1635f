// When something fails under the nccl transport: every rank's wait ends, with the first cause, and communicators are
// aborted rather than finished.
#include <atomic>
#include <chrono>
#include <thread>

#include "core/error.h"
#include "tests/support/test.h"
#include "tests/unit/comm/nccl/nccl_world.h"

namespace bertft {
namespace {

using test::FakeTrouble;
using test::NcclCase;
using test::NcclView;

constexpr int64_t kElements = 4096;

const std::vector<NcclCase>& fault_worlds() {
  static const std::vector<NcclCase> worlds = {
      {{"a", "b", "b"}, false, 1}, {{"a", "a", "b", "b"}, false, 3}, {{"a", "a", "b", "b"}, true, 2}};
  return worlds;
}

void run_for_ever(NcclView& view, const NcclCase& world, WireType wire = WireType::kFp32) {
  for (int64_t step = 0;; ++step) test::sum_step(view, world, {.wire = wire, .step = step});
}

void require_aborted(const test::FakeCluster& cluster) {
  for (int rank = 0; rank < cluster.ranks(); ++rank) {
    INFO("rank " << rank);
    const test::FakeCounts counts = cluster.counts(rank);
    REQUIRE(counts.aborts > 0);
    REQUIRE(counts.live_communicators == 0);
    REQUIRE(counts.live_memory == 0);
    REQUIRE(counts.live_streams == 0);
  }
  REQUIRE(cluster.violations() == std::vector<std::string>{});
}

TEST_CASE("NCCL waits end with the cause when a rank aborts, also one whose compute thread does nothing") {
  for (const NcclCase& world : fault_worlds()) {
    INFO(world.text());
    test::FakeCluster cluster = test::healthy_cluster(world, 100);
    const auto body = [&](NcclView& view) {
      if (view.transport.rank() == 1) {
        std::thread watcher([&view] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          view.transport.abort("no progress");
        });
        watcher.join();
        view.transport.barrier();
      }
      run_for_ever(view, world);
    };
    for (const std::string& error : test::run_nccl(cluster, world, kElements, body)) {
      REQUIRE_THAT(error, Catch::Contains("rank 1 (" + world.nodes[1] + "): no progress"));
    }
    require_aborted(cluster);
  }
}

TEST_CASE("NCCL asynchronous errors end the job on all ranks, naming rank, lane and cause") {
  for (const NcclCase& world : fault_worlds()) {
    for (const int64_t at : {0, 1, 17}) {
      const auto victim = world.nodes.size() - 1;
      std::vector<FakeTrouble> troubles(world.nodes.size(), FakeTrouble{.most_delay_us = 100});
      troubles[victim].error_at_operation = at;
      test::FakeCluster cluster(troubles);
      INFO(world.text() << ", operation " << at);
      const auto errors = test::run_nccl(cluster, world, kElements,
                                         [&](NcclView& view) { run_for_ever(view, world, WireType::kBf16); });
      for (const std::string& error : errors) {
        REQUIRE_THAT(error, Catch::Contains("rank " + std::to_string(victim) + " (b): NCCL: lane ") &&
                                Catch::Contains("failed: unhandled system error"));
      }
      require_aborted(cluster);
    }
  }
}

TEST_CASE("NCCL failures of two ranks at once end every rank with one of the two causes") {
  for (const NcclCase& world : fault_worlds()) {
    std::vector<FakeTrouble> troubles(world.nodes.size(), FakeTrouble{.most_delay_us = 50});
    troubles[1].error_at_operation = 5;
    troubles[1].error = "error one";
    troubles[2].error_at_operation = 5;
    troubles[2].error = "error two";
    test::FakeCluster cluster(troubles);
    INFO(world.text());
    const auto errors = test::run_nccl(cluster, world, kElements, [&](NcclView& view) { run_for_ever(view, world); });
    for (const std::string& error : errors) {
      REQUIRE_THAT(error, Catch::Contains("failed: error one") || Catch::Contains("failed: error two"));
      REQUIRE_THAT(error, Catch::Contains("rank 1 (") || Catch::Contains("rank 2 ("));
    }
    require_aborted(cluster);
  }
}

TEST_CASE("NCCL transports that are given up in the middle of a step are named by the other ranks") {
  for (const NcclCase& world : fault_worlds()) {
    test::FakeCluster cluster = test::healthy_cluster(world, 50);
    INFO(world.text());
    // run_nccl() aborts with this text, as the communicator does when its owner is lost to an exception.
    const auto body = [&](NcclView& view) {
      test::sum_step(view, world, {});
      if (view.transport.rank() == 0) throw DataError("the file is gone");
      test::sum_step(view, world, {.step = 1});
    };
    for (const std::string& error : test::run_nccl(cluster, world, kElements, body)) {
      REQUIRE_THAT(error, Catch::Contains("the file is gone"));
    }
    require_aborted(cluster);
  }
}

TEST_CASE("NCCL waits end in bounded time when the abort itself does not return") {
  const NcclCase world{{"a", "b"}, false, 1};
  std::vector<FakeTrouble> troubles(2);
  troubles[0].abort_takes_s = 5.0;
  test::FakeCluster cluster(troubles);
  std::atomic<int64_t> ended{-1};
  const auto body = [&](NcclView& view) {
    if (view.transport.rank() == 1) {
      test::sum_step(view, world, {});
      throw CommError("enough");
    }
    try {
      run_for_ever(view, world);
    } catch (const CommError&) {
      ended = cluster.counts(0).aborts_ended;
      throw;
    }
  };
  const auto limit = [](NcclOptions& options) { options.abort_limit_s = 0.1; };
  for (const std::string& error : test::run_nccl(cluster, world, kElements, body, {}, limit)) {
    REQUIRE_THAT(error, Catch::Contains("enough"));
  }
  REQUIRE(ended == 0);  // the wait was over before the abort
  while (cluster.is_used(0)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  require_aborted(cluster);
}

TEST_CASE("NCCL after a failure refuses further sums with the first cause") {
  const NcclCase world{{"a", "b"}, false, 1};
  std::vector<FakeTrouble> troubles(2);
  troubles[1].error_at_operation = 2;
  test::FakeCluster cluster(troubles);
  std::vector<std::string> later(2);
  const auto body = [&](NcclView& view) {
    try {
      run_for_ever(view, world);
    } catch (const CommError&) {
      view.transport.abort("a later cause");
      try {
        test::sum_step(view, world, {.step = 1000});
      } catch (const CommError& error) {
        later[static_cast<size_t>(view.transport.rank())] = error.what();
      }
      throw;
    }
  };
  const auto errors = test::run_nccl(cluster, world, kElements, body);
  for (size_t rank = 0; rank < 2; ++rank) {
    REQUIRE_THAT(errors[rank], Catch::Contains("rank 1 (b): NCCL: lane 0: "));
    REQUIRE(later[rank] == errors[rank]);
  }
}

TEST_CASE("NCCL waits name what a lane waits for") {
  const NcclCase world{{"a", "b"}, false, 2, 2};
  test::FakeCluster cluster = test::healthy_cluster(world, 0);
  std::vector<TransportWait> seen;
  const auto body = [&](NcclView& view) {
    if (view.transport.rank() == 0) {
      ReduceJob job{.range = {2048, 4096}, .step = 3, .unit = 1};
      job.order = 1;  // before 0, so it has to wait for its turn
      view.transport.post(1, job);
      for (const TransportWait& wait : view.transport.waits()) {
        if (wait.lane == 1) seen.push_back(wait);
      }
    }
    view.transport.barrier();
    throw CommError("seen");
  };
  test::run_nccl(cluster, world, kElements, body);
  REQUIRE(seen.size() == 1);
  REQUIRE(seen[0].what == "its turn");
  REQUIRE(seen[0].step == 3);
  REQUIRE(seen[0].unit == 1);
}

}  // namespace
}  // namespace bertft
