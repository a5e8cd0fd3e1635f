// Who the ranks of a job are and which of them share a node.
#pragma once

#include <string>
#include <vector>

#include "comm/bootstrap.h"

namespace bertft {

// A node is what has a host name, a boot and a network of its own (node_name() of comm/native, so that all of the
// communicator counts the same nodes); its ranks share memory and local files.
// Ranks need not be numbered node by node.
struct World {
  int rank = 0;
  int size = 1;
  int node = 0;  // nodes are numbered by their lowest rank
  int nodes = 1;
  int local_rank = 0;  // among the ranks of the node, in order of rank
  int local_size = 1;
  std::vector<int> node_of;        // [size]
  std::vector<std::string> hosts;  // [size] names

  bool has_equal_nodes() const;  // all nodes have the same number of ranks
  // "rank 3 (node-b)": how messages call a rank.
  std::string name_of(int other) const;
};

// A world of one on this host.
World single_world();

// Collective.
World find_world(Bootstrap& bootstrap);

// The same from what every rank says of itself; `identities` are equal for ranks of one node. Pure, for tests.
World make_world(int rank, const std::vector<std::string>& identities, std::vector<std::string> hosts);

}  // namespace bertft
