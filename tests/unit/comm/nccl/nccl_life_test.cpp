// The nccl transport's beginning and end: what is refused, what is registered, and that everything is given back.
#include "tests/support/test.h"
#include "tests/unit/comm/nccl/nccl_world.h"

namespace bertft {
namespace {

using test::FakeTrouble;
using test::NcclCase;
using test::NcclView;

constexpr int64_t kElements = 4096;

void require_all_given_back(const test::FakeCluster& cluster) {
  for (int rank = 0; rank < cluster.ranks(); ++rank) {
    INFO("rank " << rank);
    const test::FakeCounts counts = cluster.counts(rank);
    REQUIRE(counts.live_memory == 0);
    REQUIRE(counts.live_registrations == 0);
    REQUIRE(counts.live_communicators == 0);
    REQUIRE(counts.live_streams == 0);
    REQUIRE(counts.live_events == 0);
    REQUIRE_FALSE(cluster.is_used(rank));
  }
}

TEST_CASE("NCCL memory is registered with every communicator before the first step and given up after the last") {
  for (const bool is_hierarchical : {false, true}) {
    for (const bool has_16_bit_wire : {false, true}) {
      const NcclCase world{{"a", "a", "b", "b"}, is_hierarchical, 3, 8, has_16_bit_wire};
      INFO(world.text());
      test::FakeCluster cluster = test::healthy_cluster(world, 50);
      std::vector<test::FakeCounts> during(4);
      const auto body = [&](NcclView& view) {
        for (int64_t i = 0; i < kElements; ++i) view.values[i] = 1.0f;
        test::sum_step(view, world, {});
        during[static_cast<size_t>(view.transport.rank())] = cluster.counts(view.transport.rank());
      };
      REQUIRE(test::run_nccl(cluster, world, kElements, body) == std::vector<std::string>(4));
      REQUIRE(cluster.violations() == std::vector<std::string>{});
      const int64_t communicators = 3 * (is_hierarchical ? 2 : 1);
      for (const test::FakeCounts& counts : during) {
        REQUIRE(counts.live_communicators == communicators);
        REQUIRE(counts.live_registrations == communicators * (has_16_bit_wire ? 2 : 1));
        REQUIRE(counts.live_streams == 3);
      }
      for (int rank = 0; rank < 4; ++rank) {
        REQUIRE(cluster.counts(rank).registrations == during[static_cast<size_t>(rank)].live_registrations);
        REQUIRE(cluster.counts(rank).aborts == 0);
      }
      require_all_given_back(cluster);
    }
  }
}

TEST_CASE("NCCL is refused where two ranks have one device, with both named and a remedy, on all ranks alike") {
  std::vector<FakeTrouble> troubles(3);
  troubles[0].device = "GPU-11";
  troubles[1].device = "GPU-22";
  troubles[2].device = "GPU-11";
  test::FakeCluster cluster(troubles);
  const auto errors = test::run_nccl(cluster, {{"a", "a", "a"}}, kElements, [](NcclView&) {});
  for (const std::string& error : errors) {
    REQUIRE_THAT(error, Catch::Contains("rank 0 (a) and rank 2 (a) have the same device (GPU-11)") &&
                            Catch::Contains("ppr:N:node") && Catch::Contains("comm.transport: native"));
  }
  require_all_given_back(cluster);
}

TEST_CASE("NCCL is refused where a rank has no device, on all ranks alike") {
  std::vector<FakeTrouble> troubles(3);
  troubles[1].devices = 0;
  test::FakeCluster cluster(troubles);
  const auto errors = test::run_nccl(cluster, {{"a", "b", "b"}}, kElements, [](NcclView&) {});
  for (const std::string& error : errors) {
    REQUIRE_THAT(error, Catch::Contains("rank 1 (b) has no device") && Catch::Contains("device 0 of 0 is not there") &&
                            Catch::Contains("comm.transport: native"));
  }
  require_all_given_back(cluster);
}

TEST_CASE("NCCL that cannot be connected on one rank ends all of them with that cause") {
  std::vector<FakeTrouble> troubles(3);
  troubles[1].init_error = "no route to host";
  test::FakeCluster cluster(troubles);
  const auto errors = test::run_nccl(cluster, {{"a", "b", "b"}, false}, kElements, [](NcclView&) {});
  for (const std::string& error : errors) {
    REQUIRE_THAT(error, Catch::Contains("rank 1 (b): NCCL: lane 0: connecting failed: no route to host"));
  }
  require_all_given_back(cluster);
}

TEST_CASE("NCCL says what it is, and sums flat where nodes have different numbers of ranks") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"a", "a", "b", "b"}, "nccl 0.0.0: 4 rank(s) on 2 node(s), 2 lane(s), hierarchical; control over native"},
      {{"a", "b", "b"}, "nccl 0.0.0: 3 rank(s) on 2 node(s), 2 lane(s), flat; control over native"},
      {{"a", "a"}, "nccl 0.0.0: 2 rank(s) on 1 node(s), 2 lane(s), flat; control over native"},
      {{"a", "b"}, "nccl 0.0.0: 2 rank(s) on 2 node(s), 2 lane(s), flat; control over native"}};
  for (const auto& [nodes, text] : cases) {
    const NcclCase world{nodes, true, 2};
    test::FakeCluster cluster = test::healthy_cluster(world, 0);
    std::vector<std::string> texts(nodes.size());
    const auto body = [&](NcclView& view) {
      texts[static_cast<size_t>(view.transport.rank())] = view.transport.description();
    };
    REQUIRE(test::run_nccl(cluster, world, kElements, body) == std::vector<std::string>(nodes.size()));
    for (const std::string& of_rank : texts) REQUIRE_THAT(of_rank, Catch::StartsWith(text));
  }
}

TEST_CASE("NCCL leaves collectives of host bytes and small messages to the native transport") {
  const NcclCase world{{"a", "a", "b"}};
  test::FakeCluster cluster = test::healthy_cluster(world, 0);
  std::vector<std::string> seen(3);
  const auto body = [&](NcclView& view) {
    const int rank = view.transport.rank();
    std::string text = rank == 1 ? "from 1" : "......";
    view.transport.broadcast(text.data(), text.size(), 1);
    for (const std::string& of_rank : view.transport.all_gather(std::to_string(rank))) text += of_rank;
    view.transport.send((rank + 1) % 3, std::to_string(rank));
    const auto message = view.transport.receive(30.0);
    text += message ? ", " + message->bytes : ", nothing";
    seen[static_cast<size_t>(rank)] = text;
  };
  REQUIRE(test::run_nccl(cluster, world, kElements, body) == std::vector<std::string>(3));
  REQUIRE(seen == std::vector<std::string>{"from 1012, 2", "from 1012, 0", "from 1012, 1"});
}

}  // namespace
}  // namespace bertft
