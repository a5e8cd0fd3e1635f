// Trees and recursive doubling: complete, without repetition, sends matching receives.
#include "comm/coordinator/cycle_topology.h"

#include <algorithm>
#include <set>
#include <vector>

#include "tests/support/test.h"

namespace bertft {
using Kind = ExchangeStep::Kind;

TEST_CASE("every rank of a tree is reached once, through its parent, in ascending ranges") {
  for (const CycleTree tree : {CycleTree::kBinomial, CycleTree::kLinear}) {
    for (int size = 1; size <= 70; ++size) {
      std::vector<int> reached(static_cast<size_t>(size), 0);
      for (int rank = 0; rank < size; ++rank) {
        const CycleTreePlace place = place_in_tree(rank, size, tree);
        int next = rank + 1;
        std::vector<int> children = place.children;
        std::sort(children.begin(), children.end());
        for (const int child : children) {
          REQUIRE(child == next);  // the subtrees of the children follow each other without a gap
          REQUIRE(parent_of(child, tree) == rank);
          next += subtree_of(child, size, tree);
          ++reached[static_cast<size_t>(child)];
        }
        CHECK(next == rank + place.subtree);
        CHECK(place.parent == parent_of(rank, tree));
      }
      CHECK(place_in_tree(0, size, tree).subtree == size);
      for (int rank = 1; rank < size; ++rank) {
        CHECK(reached[static_cast<size_t>(rank)] == 1);
      }
    }
  }
}

TEST_CASE("rank 0 of a binomial tree talks to ceil(log2 n) ranks") {
  CHECK(place_in_tree(0, 1, CycleTree::kBinomial).children.empty());
  CHECK(place_in_tree(0, 5, CycleTree::kBinomial).children == std::vector<int>{4, 2, 1});
  CHECK(place_in_tree(4, 7, CycleTree::kBinomial).children == std::vector<int>{6, 5});
  CHECK(place_in_tree(0, 1024, CycleTree::kBinomial).children.size() == 10);
  CHECK(place_in_tree(0, 1025, CycleTree::kBinomial).children.size() == 11);
  CHECK(place_in_tree(0, 1024, CycleTree::kLinear).children.size() == 1023);
}

TEST_CASE("recursive doubling combines each rank's part exactly once, whatever the number of ranks") {
  for (int size = 1; size <= 70; ++size) {
    // parts[r]: whose parts rank r holds; executed phase by phase, as all schedules name the same phases.
    std::vector<std::multiset<int>> parts(static_cast<size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
      parts[static_cast<size_t>(rank)].insert(rank);
    }
    for (int phase = 0; phase <= 8; ++phase) {
      const auto before = parts;
      for (int rank = 0; rank < size; ++rank) {
        for (const ExchangeStep& step : recursive_doubling(rank, size)) {
          if (step.phase != phase || step.kind == Kind::kSend) {
            continue;
          }
          const auto& other = before[static_cast<size_t>(step.peer)];
          auto& own = parts[static_cast<size_t>(rank)];
          if (step.kind == Kind::kReplace) {
            own = other;
          } else {
            own.insert(other.begin(), other.end());
          }
        }
      }
    }
    for (const auto& part : parts) {
      CHECK(part.size() == static_cast<size_t>(size));
      CHECK(std::set<int>(part.begin(), part.end()).size() == static_cast<size_t>(size));
    }
  }
}

TEST_CASE("each message of recursive doubling that is sent is received by the step that expects it") {
  for (int size = 1; size <= 40; ++size) {
    std::multiset<std::vector<int>> sent;
    std::multiset<std::vector<int>> received;
    for (int rank = 0; rank < size; ++rank) {
      for (const ExchangeStep& step : recursive_doubling(rank, size)) {
        if (step.kind == Kind::kExchange || step.kind == Kind::kSend) {
          sent.insert({rank, step.peer, step.phase});
        }
        if (step.kind != Kind::kSend) {
          received.insert({step.peer, rank, step.phase});
        }
      }
    }
    CHECK(sent == received);
  }
}

}  // namespace bertft
