// Which ranks share a node, also when they are not numbered node by node.
#include "comm/world.h"

#include "tests/support/test.h"

namespace bertft {
namespace {

TEST_CASE("A world of one is one node") {
  const World world = single_world();
  CHECK(world.size == 1);
  CHECK(world.nodes == 1);
  CHECK(world.local_size == 1);
  CHECK(world.has_equal_nodes());
}

TEST_CASE("Ranks that are dealt out by turns find their node and their place in it") {
  const std::vector<std::string> identities = {"a", "b", "a", "b", "a"};
  const std::vector<std::string> hosts = {"host-a", "host-b", "host-a", "host-b", "host-a"};
  const World world = make_world(3, identities, hosts);
  CHECK(world.size == 5);
  CHECK(world.nodes == 2);
  CHECK(world.node == 1);
  CHECK(world.local_rank == 1);
  CHECK(world.local_size == 2);
  CHECK(world.node_of == std::vector<int>{0, 1, 0, 1, 0});
  CHECK_FALSE(world.has_equal_nodes());
  CHECK(world.name_of(3) == "rank 3 (host-b)");
  CHECK(make_world(4, identities, hosts).local_rank == 2);
  CHECK(make_world(0, {"a", "b"}, {"h", "h"}).has_equal_nodes());  // two boots of one name are two nodes
}

}  // namespace
}  // namespace bertft
