// The fake sees what a real NCCL would hang or crash on: without that, tests against it would prove nothing.
#include <atomic>
#include <thread>

#include "core/error.h"
#include "tests/support/test.h"
#include "tests/unit/comm/nccl/nccl_world.h"

namespace bertft {
namespace {

using test::FakeCluster;
using test::FakeTrouble;

TEST_CASE("Fake NCCL notices launches in another order on another rank") {
  const test::NcclCase world{{"a", "b"}, false, 2, 2};
  FakeCluster cluster = test::healthy_cluster(world, 0);
  const auto body = [&](test::NcclView& view) {
    for (int64_t i = 0; i < view.elements; ++i) view.values[i] = 1.0f;
    for (const int unit : {0, 1}) {
      ReduceJob job{.range = {unit * 2048, (unit + 1) * 2048}, .step = 0, .unit = unit};
      job.order = view.transport.rank() == 0 ? unit : 1 - unit;
      view.transport.post(unit, job);
    }
    view.transport.wait_posted(0);
    view.transport.wait_posted(1);
  };
  test::run_nccl(cluster, world, 4096, body);
  REQUIRE(cluster.violations().size() >= 1);
  REQUIRE_THAT(cluster.violations().front(), Catch::Contains("in its place"));
}

// Two ranks with a communicator each, connected.
struct Pair {
  FakeCluster cluster{std::vector<FakeTrouble>(2)};
  nccl::UniqueId id = cluster.open();
  std::vector<nccl::Comm> comms{2};

  Pair() {
    for (int rank = 0; rank < 2; ++rank) {
      cluster.functions(rank)->init_rank(comms[static_cast<size_t>(rank)], 2, id, rank);
    }
    for (int rank = 0; rank < 2; ++rank) cluster.functions(rank)->async_error(comms[static_cast<size_t>(rank)]);
  }
};

TEST_CASE("Fake NCCL notices calls on communicators that are busy, gone or not settled") {
  FakeCluster cluster(std::vector<FakeTrouble>(2));
  nccl::Comm comm = nullptr;
  nccl::Functions& functions = *cluster.functions(0);
  REQUIRE(functions.init_rank(comm, 2, cluster.open(), 0).state == nccl::State::kInProgress);
  int rank = -1;
  functions.user_rank(comm, rank);
  REQUIRE(cluster.violations().size() == 1);
  REQUIRE_THAT(cluster.violations()[0], Catch::Contains("user_rank on a communicator that is busy"));
  REQUIRE(functions.async_error(comm).state == nccl::State::kInProgress);
  functions.abort(comm);
  functions.finalize(comm);
  REQUIRE_THAT(cluster.violations()[1], Catch::Contains("finalize on a communicator that is not there"));
}

TEST_CASE("Fake NCCL notices memory of the wrong kind and memory that is freed while registered") {
  std::vector<float> host(64);
  Pair pair;
  nccl::Functions& functions = *pair.cluster.functions(0);
  functions.group_start();
  functions.all_reduce(host.data(), 64, nccl::Type::kFp32, nccl::Op::kSum, pair.comms[0], nullptr);
  REQUIRE_THAT(pair.cluster.violations().at(0), Catch::Contains("an operation outside its memory"));
  void* memory = functions.allocate_device(256);
  functions.copy_to_device(memory, host.data(), 256, nullptr);
  REQUIRE_THAT(pair.cluster.violations().at(1), Catch::Contains("a copy from pinned memory outside its memory"));
  nccl::Registration registration = nullptr;
  functions.register_buffer(pair.comms[0], memory, 256, registration);
  functions.finalize(pair.comms[0]);
  REQUIRE_THAT(pair.cluster.violations().at(2), Catch::Contains("finalizes a communicator with registered memory"));
  const nccl::Event copied = functions.create_event();
  functions.record(copied, nullptr);
  while (!functions.is_complete(copied)) std::this_thread::yield();
  functions.free_device(memory);
  REQUIRE_THAT(pair.cluster.violations().at(3), Catch::Contains("frees memory that is registered"));
}

TEST_CASE("Fake NCCL notices two threads at once") {
  FakeCluster cluster(std::vector<FakeTrouble>(1));
  nccl::Functions& functions = *cluster.functions(0);
  const nccl::Event event = functions.create_event();
  std::atomic<bool> is_over{false};
  const auto call = [&] {
    while (!is_over) {
      functions.is_complete(event);
      if (!cluster.violations().empty()) is_over = true;
    }
  };
  std::thread first(call);
  std::thread second(call);
  first.join();
  second.join();
  REQUIRE_THAT(cluster.violations().front(), Catch::Contains("two threads call at once"));
}

}  // namespace
}  // namespace bertft
