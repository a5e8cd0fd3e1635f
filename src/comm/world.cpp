#include "comm/world.h"

#include <algorithm>
#include <utility>

#include "comm/native/native_transport.h"
#include "core/error.h"
#include "core/host.h"

namespace bertft {

std::string World::name_of(int other) const {
  return "rank " + std::to_string(other) + " (" + hosts.at(static_cast<size_t>(other)) + ")";
}

bool World::has_equal_nodes() const {
  for (int other = 0; other < nodes; ++other) {
    if (std::count(node_of.begin(), node_of.end(), other) != local_size) return false;
  }
  return true;
}

World single_world() { return make_world(0, {""}, {host_name()}); }

World find_world(Bootstrap& bootstrap) {
  const std::vector<std::string> identities = bootstrap.all_gather(node_name());
  return make_world(bootstrap.rank(), identities, bootstrap.all_gather(host_name()));
}

World make_world(int rank, const std::vector<std::string>& identities, std::vector<std::string> hosts) {
  World world;
  world.rank = rank;
  world.size = static_cast<int>(identities.size());
  check(rank >= 0 && rank < world.size && hosts.size() == identities.size(), "a rank is one of its world");
  std::vector<std::string> nodes;
  for (const std::string& identity : identities) {
    const auto found = std::find(nodes.begin(), nodes.end(), identity);
    world.node_of.push_back(static_cast<int>(found - nodes.begin()));
    if (found == nodes.end()) nodes.push_back(identity);
  }
  world.nodes = static_cast<int>(nodes.size());
  world.node = world.node_of[static_cast<size_t>(rank)];
  const auto first = world.node_of.begin();
  world.local_rank = static_cast<int>(std::count(first, first + rank, world.node));
  world.local_size = static_cast<int>(std::count(first, world.node_of.end(), world.node));
  world.hosts = std::move(hosts);
  return world;
}

}  // namespace bertft
