// Exact messages, bytes and chains of messages in lockstep, against formulas written down here once more.
#include <bitset>

#include "tests/support/test.h"
#include "tests/unit/comm/coordinator/coordinator_world.h"

namespace bertft {

namespace {

constexpr int64_t kHeader = 32;
constexpr int kUnits = 70;  // with the status bits more than one word

std::vector<int> sizes() {
  std::vector<int> sizes;
  for (int size = 1; size <= 17; ++size) {
    sizes.push_back(size);
  }
  sizes.push_back(64);
  return sizes;
}

int floor_log2(int n) {
  int log = 0;
  while (n >> (log + 1) > 0) {
    ++log;
  }
  return log;
}

int64_t reduction_messages(int n) {
  const int64_t power = int64_t{1} << floor_log2(n);
  return power * floor_log2(n) + 2 * (n - power);
}

// Fold, K exchanges, and the unfold when it can wait for all of those: when a rank and its opposite are both folded.
int reduction_chain(int n) {
  const int power = 1 << floor_log2(n);
  const int extra = n - power;
  return floor_log2(n) + (extra > 0 ? 1 : 0) + (2 * extra > power ? 1 : 0);
}

// What ranks other than 0 hand on of lengths: each length passes once for each rank on its way, that is for each
// one-bit.
int64_t lengths_on_the_way(int n, CycleTree tree) {
  int64_t total = 0;
  for (int rank = 1; rank < n; ++rank) {
    total +=
        tree == CycleTree::kLinear ? 1 : static_cast<int64_t>(std::bitset<32>(static_cast<unsigned>(rank)).count());
  }
  return total;
}

// Names unit.0 ... : bytes of all of them.
int64_t name_bytes(int units) {
  int64_t bytes = 0;
  for (int unit = 0; unit < units; ++unit) {
    bytes += static_cast<int64_t>(std::to_string(unit).size()) + 5;
  }
  return bytes;
}

int64_t request_list_bytes(int units) { return 5 + units * (11 + 8) + name_bytes(units); }
int64_t response_list_bytes(int units, int responses, int n) {
  return 5 + responses * (15 + 4 * n) + units * 12 + name_bytes(units);
}

void check_counts(const CoordinatorWorld& world, CycleStage stage, int64_t messages, int64_t bytes) {
  CAPTURE(world.size(), static_cast<int>(stage));
  CHECK(world.sent(stage).messages == messages);
  CHECK(world.sent(stage).bytes == bytes);
}

void step(CoordinatorWorld& world, int64_t number) {
  world.step_begin(number);
  for (int unit = 0; unit < kUnits; ++unit) {
    world.mark(unit);
  }
  world.cycle();
}

}  // namespace

TEST_CASE("messages, bytes and chains of a cached coordinator are exactly those of the formulas") {
  for (const int n : sizes()) {
    for (const CycleTree tree : {CycleTree::kBinomial, CycleTree::kLinear}) {
      CoordinatorWorld world({.size = n, .tree = tree}, plain_units(kUnits));
      const int64_t all_but_root = n - 1;
      const int64_t reduction = reduction_messages(n);

      step(world, 0);  // nothing is cached: one word, then the slow path with one fused response
      int64_t and_bytes = reduction * (kHeader + 8);
      check_counts(world, CycleStage::kAnd, reduction, and_bytes);
      check_counts(world, CycleStage::kOr, 0, 0);
      check_counts(world, CycleStage::kLengths, all_but_root, all_but_root * kHeader + 4 * lengths_on_the_way(n, tree));
      check_counts(world, CycleStage::kRequests, all_but_root, all_but_root * (kHeader + request_list_bytes(kUnits)));
      check_counts(world, CycleStage::kResponseLength, all_but_root, all_but_root * (kHeader + 4));
      check_counts(world, CycleStage::kResponses, all_but_root,
                   all_but_root * (kHeader + response_list_bytes(kUnits, 1, n)));
      const CycleCounts slow = world.sent();

      step(world, 1);  // all cached: one AND of ceil(73 / 64) words and nothing else
      and_bytes += reduction * (kHeader + 16);
      check_counts(world, CycleStage::kAnd, 2 * reduction, and_bytes);
      world.cycle();  // idle: the same AND all the same, as Horovod
      and_bytes += reduction * (kHeader + 16);
      check_counts(world, CycleStage::kAnd, 3 * reduction, and_bytes);
      CHECK(world.sent().messages == slow.messages + 2 * reduction);

      const int tree_chain = n == 1 ? 0 : tree == CycleTree::kLinear ? 1 : floor_log2(n);
      CHECK(world.longest_chain(CycleStage::kAnd) == reduction_chain(n));
      CHECK(world.longest_chain(CycleStage::kLengths) == tree_chain);
      CHECK(world.longest_chain(CycleStage::kRequests) == (n == 1 ? 0 : 1));
      CHECK(world.longest_chain(CycleStage::kResponseLength) == tree_chain);
      CHECK(world.longest_chain(CycleStage::kResponses) == tree_chain);
      REQUIRE(world.rounds(n - 1).size() == 2);
      CHECK(world.rounds(n - 1)[1].groups.size() == 1);
    }
  }
}

TEST_CASE("without a cache every cycle, an idle one too, is gather and broadcast") {
  for (const int n : sizes()) {
    for (const CycleTree tree : {CycleTree::kBinomial, CycleTree::kLinear}) {
      CoordinatorWorld world({.size = n, .cache_capacity = 0, .tree = tree}, plain_units(kUnits));
      const int64_t all_but_root = n - 1;
      for (int64_t cycles = 1; cycles <= 3; ++cycles) {
        step(world, cycles);
        check_counts(world, CycleStage::kAnd, 0, 0);
        check_counts(world, CycleStage::kLengths, cycles * all_but_root,
                     cycles * (all_but_root * kHeader + 4 * lengths_on_the_way(n, tree)));
        check_counts(world, CycleStage::kRequests, cycles * all_but_root,
                     cycles * all_but_root * (kHeader + request_list_bytes(kUnits)));
        check_counts(world, CycleStage::kResponseLength, cycles * all_but_root, cycles * all_but_root * (kHeader + 4));
        check_counts(world, CycleStage::kResponses, cycles * all_but_root,
                     cycles * all_but_root * (kHeader + response_list_bytes(kUnits, 1, n)));
      }
      // Rank 0 gets n - 1 lists; of lengths and answers it handles one for each of its children in the tree.
      const int ceil_log2 = n == 1 ? 0 : floor_log2(n - 1) + 1;
      const int64_t children = tree == CycleTree::kLinear ? n - 1 : ceil_log2;
      CHECK(world.messages_at(0) == 3 * (all_but_root + 3 * children));
      const CycleCounts before = world.sent();
      world.cycle();
      CHECK(world.sent().messages - before.messages == 4 * all_but_root);
      CHECK(world.sent().bytes - before.bytes ==
            4 * all_but_root * kHeader + 4 * lengths_on_the_way(n, tree) + all_but_root * (5 + 4 + 5));
    }
  }
}

TEST_CASE("1,024 ranks and 201 tensors: 4,092 messages at a linear rank 0, ten sent by each rank with a warm cache") {
  CoordinatorWorld linear({.size = 1024, .cache_capacity = 0, .tree = CycleTree::kLinear}, plain_units(201));
  linear.step_begin(0);
  for (int unit = 0; unit < 201; ++unit) {
    linear.mark(unit);
  }
  linear.cycle();
  CHECK(linear.messages_at(0) == 4092);
  CHECK(linear.rounds(1023).size() == 1);
  CHECK(linear.rounds(1023) == linear.rounds(0));

  CoordinatorWorld cached({.size = 1024}, plain_units(201));
  for (int64_t step = 0; step < 2; ++step) {
    cached.step_begin(step);
    for (int unit = 0; unit < 201; ++unit) {
      cached.mark(unit);
    }
    const CycleCounts before = cached.rank(5).cycle().collectives().sent();
    cached.cycle();
    if (step == 1) {
      const CycleCounts after = cached.rank(5).cycle().collectives().sent();
      CHECK(after.messages - before.messages == 10);
      CHECK(after.bytes - before.bytes == 10 * (kHeader + 4 * 8));
    }
  }
}

TEST_CASE("an invalid tensor costs one more reduction, a timeline twice the words") {
  CoordinatorWorld world({.size = 6, .has_timeline = true}, plain_units(kUnits));
  const int64_t reduction = reduction_messages(6);
  step(world, 0);
  CHECK(world.sent(CycleStage::kAnd).bytes == reduction * (kHeader + 2 * 8));
  world.step_begin(1);
  for (int rank = 0; rank < world.size(); ++rank) {
    world.rank(rank).change_traits(3, {.shape = {9}});
  }
  world.mark(3);
  world.cycle();
  check_counts(world, CycleStage::kOr, reduction, reduction * (kHeader + 2 * 8));
  check_counts(world, CycleStage::kAnd, 2 * reduction, reduction * (2 * kHeader + 2 * 8 + 4 * 8));
  REQUIRE(world.rounds(5).size() == 2);
  CHECK(world.rounds(5)[1].groups == std::vector<std::vector<int>>{{3}});
}

}  // namespace bertft
