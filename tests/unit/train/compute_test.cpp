// The number of threads that all ranks of a job agree on, from what each of them may use.
#include "train/compute.h"

#include "tests/support/test.h"

namespace bertft {
namespace {

CpuShare share_of(std::vector<int> cores, std::optional<double> quota = std::nullopt) { return {cores, cores, quota}; }

TEST_CASE("the ranks of a node share its cores, and the rank with the fewest decides for all nodes") {
  const CpuShare four = share_of({0, 1, 2, 3});
  const CpuShare two = share_of({0, 1});
  struct Case {
    std::vector<std::string> nodes;  // of each rank
    std::vector<CpuShare> shares;
    int count;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {{"a"}, {four}, 4, "affinity mask of 4 cores"},
      {{"a", "a"}, {four, four}, 2, "affinity mask of 4 cores shared by 2 ranks"},
      // the same numbers on another node are other cores
      {{"a", "b"}, {four, four}, 4, "affinity mask of 4 cores"},
      {{"a", "b", "a", "b"}, {four, four, four, four}, 2, "affinity mask of 4 cores shared by 2 ranks"},
      {{"a", "b", "b"}, {four, four, four}, 2, "affinity mask of 4 cores shared by 2 ranks, of rank 1 (b)"},
      {{"a", "b"}, {four, two}, 2, "affinity mask of 2 cores, of rank 1 (b)"},
      {{"a", "a"}, {share_of({0}), share_of({1, 2, 3})}, 1, "affinity mask of 1 core, of rank 0 (a)"},
      {{"a", "b"}, {four, share_of({0, 1, 2, 3}, 1.5)}, 1, "CPU quota of 1.5 cores, of rank 1 (b)"},
      {{"a", "b", "a", "b"},
       {four, share_of({0, 1, 2, 3}, 2.0), four, share_of({0, 1, 2, 3}, 2.0)},
       1,
       "CPU quota of 2 cores shared by 2 ranks, of rank 1 (b)"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.reason);
    for (int rank = 0; rank < static_cast<int>(c.nodes.size()); ++rank) {
      const ThreadCount agreed = agreed_threads(make_world(rank, c.nodes, c.nodes), c.shares);
      CHECK(agreed.count == c.count);
      CHECK(agreed.reason == c.reason);
    }
  }
}

}  // namespace
}  // namespace bertft
