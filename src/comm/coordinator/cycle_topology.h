// Who talks to whom in the collectives of a cycle: pure functions of rank and number of ranks, as MPI libraries do it
// for small messages. The exact numbers of messages follow from here (docs/communicator-coordinator.md).
#pragma once

#include <vector>

namespace bertft {

// How lengths are gathered and answers broadcast.
enum class CycleTree {
  kBinomial,  // what Open MPI and MPICH do: rank 0 talks to ceil(log2 n) ranks
  kLinear,    // rank 0 talks to all others: the textbook coordinator, worst for rank 0
};

struct CycleTreePlace {
  int parent = -1;            // -1 at rank 0
  std::vector<int> children;  // descending size of their subtree in a binomial tree, so that long ways start first
  int subtree = 1;            // ranks rank .. rank + subtree - 1 are reached through this one, itself included
};

// In a binomial tree the parent of a rank is the rank without its lowest bit. Messages of all ranks together: n - 1.
// Longest chain of messages that wait for each other: floor(log2 n), or 1 in a linear tree.
CycleTreePlace place_in_tree(int rank, int size, CycleTree tree);
// Single parts of it: the ranks below `rank`, itself included; its parent.
int subtree_of(int rank, int size, CycleTree tree);
int parent_of(int rank, CycleTree tree);

// One step of recursive doubling. Both may hold: the two ranks exchange.
struct ExchangeStep {
  enum class Kind { kExchange, kSend, kReceive, kReplace };  // kReplace: receive the result in place of one's own
  int peer = 0;
  int phase = 0;  // 0: fold, 1..K: exchange over distance 2^(phase - 1), K + 1: unfold
  Kind kind = Kind::kExchange;
};

// Recursive doubling for any n: with p = 2^K the largest power of two in n and e = n - p, each even rank below 2e first
// gives its bits to the odd one behind it, which takes part for both and gives back the result.
// Messages of all ranks together: p K + 2 e. Longest chain of messages that wait for each other: K, one more if e > 0,
// and one more again if 2 e > p.
std::vector<ExchangeStep> recursive_doubling(int rank, int size);

}  // namespace bertft
