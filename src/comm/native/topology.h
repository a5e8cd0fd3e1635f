// Which ranks share a node, and who owns which part of a sum. Pure functions of the list of node names, so all ranks
// have the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/wire/wire_map.h"

namespace bertft::native {

struct Topology {
  int rank = 0;
  int size = 1;
  int node = 0;          // nodes are numbered by their lowest rank
  int local_rank = 0;    // place among the ranks of this node
  int local_slices = 1;  // the smallest number of ranks on a node: so many ranks of each node talk to other nodes
  std::vector<std::string> names;         // [node]
  std::vector<std::vector<int>> members;  // [node]: its ranks, ascending
  std::vector<int> node_of;               // [rank]
  // All ranks, node by node: the order in which contributions are added (within a node first, then the nodes).
  std::vector<int> canonical;

  int nodes() const { return static_cast<int>(members.size()); }
  const std::vector<int>& locals() const { return members[static_cast<size_t>(node)]; }
  int local_size() const { return static_cast<int>(locals().size()); }
  int leader() const { return locals().front(); }
  bool is_local(int other) const { return node_of[static_cast<size_t>(other)] == node; }
  // "rank 3 (node-b)", for messages.
  std::string name_of(int other) const;
};

// `node_of_rank[r]`: the name of the node of rank r; equal names are one node.
Topology make_topology(int rank, const std::vector<std::string>& node_of_rank);

// Part `index` of `count` of a range: contiguous, as equal as aligned borders (64 bytes of fp32) allow, perhaps empty.
ElementRange slice_of(ElementRange whole, int index, int count);

// A connection over TCP that a topology needs. The rank with the lower number listens.
struct Link {
  int peer = 0;
  int channel = 0;  // 0: control; 1..lanes: data of a lane; lanes + 1: collectives
  auto operator<=>(const Link&) const = default;
};

// Those of this rank, ascending. Hierarchical: each lane connects the ranks with the same local rank (below
// local_slices); flat: all ranks of different nodes. Control connects all ranks of different nodes, collectives
// leaders. Without lanes control alone.
std::vector<Link> tcp_links(const Topology& topology, int lanes, bool is_hierarchical);

}  // namespace bertft::native
