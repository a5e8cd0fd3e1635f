#include "comm/coordinator/cycle_topology.h"

#include <algorithm>

namespace bertft {

int subtree_of(int rank, int size, CycleTree tree) {
  if (rank == 0) {
    return size;
  }
  return tree == CycleTree::kLinear ? 1 : std::min(rank & -rank, size - rank);
}

int parent_of(int rank, CycleTree tree) {
  if (rank == 0) {
    return -1;
  }
  return tree == CycleTree::kLinear ? 0 : rank - (rank & -rank);
}

CycleTreePlace place_in_tree(int rank, int size, CycleTree tree) {
  CycleTreePlace place;
  place.subtree = subtree_of(rank, size, tree);
  place.parent = parent_of(rank, tree);
  if (tree == CycleTree::kLinear) {
    for (int other = 1; rank == 0 && other < size; ++other) {
      place.children.push_back(other);
    }
    return place;
  }
  for (int distance = 1; distance < place.subtree; distance *= 2) {
    place.children.push_back(rank + distance);
  }
  std::reverse(place.children.begin(), place.children.end());
  return place;
}

std::vector<ExchangeStep> recursive_doubling(int rank, int size) {
  using Kind = ExchangeStep::Kind;
  int power = 1;
  int doublings = 0;
  while (power * 2 <= size) {
    power *= 2;
    ++doublings;
  }
  const int extra = size - power;
  const bool is_folded = rank < 2 * extra;
  std::vector<ExchangeStep> steps;
  if (is_folded && rank % 2 == 0) {
    steps.push_back({rank + 1, 0, Kind::kSend});
    steps.push_back({rank + 1, doublings + 1, Kind::kReplace});
    return steps;
  }
  if (is_folded) {
    steps.push_back({rank - 1, 0, Kind::kReceive});
  }
  const int place = is_folded ? rank / 2 : rank - extra;
  for (int phase = 1; phase <= doublings; ++phase) {
    const int other = place ^ (1 << (phase - 1));
    steps.push_back({other < extra ? 2 * other + 1 : other + extra, phase, Kind::kExchange});
  }
  if (is_folded) {
    steps.push_back({rank - 1, doublings + 1, Kind::kSend});
  }
  return steps;
}

}  // namespace bertft
