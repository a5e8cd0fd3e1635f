// The shared words of a node: what is visible when, and ranks and leader as real threads on one board.
#include "comm/decentral/node_board.h"

#include <atomic>
#include <thread>

#include "comm/decentral/controller.h"
#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;

struct Memory {
  Memory(int local_size, int units) : words(NodeBoard::bytes(local_size, units) / 8, 77) {
    NodeBoard::format(words.data(), local_size, units);
  }
  std::vector<uint64_t> words;
};

TEST_CASE("The leader reads the AND of the ranks that are in the step, and the OR of their flags") {
  Memory memory(3, 70);
  NodeBoard board(memory.words.data(), 3, 70);
  for (int rank = 0; rank < 3; ++rank) board.enter_step(rank, 5, 0);
  for (int rank = 0; rank < 3; ++rank) board.set_ready(rank, 69);
  board.set_ready(1, 3);
  board.set_flags(2, kFlagSave);
  REQUIRE(board.read(5).ready.to_vector() == std::vector<int>{69});
  REQUIRE(board.read(5).flags == kFlagSave);
  REQUIRE(board.ranks_without(3, 5) == std::vector<int>{0, 2});
  REQUIRE(board.read(4).ready.empty());
  REQUIRE(board.read(6).flags == 0);
  board.enter_step(1, 6, kFlagStop);  // ahead of the others
  REQUIRE(board.read(5).ready.empty());
  REQUIRE(board.read(6).ready.empty());
  REQUIRE(board.read(6).flags == kFlagStop);
}

TEST_CASE("Results appear round by round, in the slot of their step") {
  Memory memory(2, 3);
  NodeBoard board(memory.words.data(), 2, 3);
  REQUIRE(board.results(0, 0).empty());
  board.open_results(0);
  board.publish({0, 0, {}, kFlagStop});
  REQUIRE(board.results(0, 0).empty());
  board.publish({0, 1, {{2}}, kFlagSave});
  board.publish({0, 70000, {{0}, {1}}, 0});
  REQUIRE(board.results(0, 0) == std::vector<AgreedRound>{{0, 1, {{2}}, kFlagSave}, {0, 70000, {{0}, {1}}, 0}});
  REQUIRE(board.results(0, 1) == std::vector<AgreedRound>{{0, 70000, {{0}, {1}}, 0}});
  REQUIRE(board.is_complete(0));
  REQUIRE(board.result_flags(0) == (kFlagStop | kFlagSave));
  board.open_results(1);
  REQUIRE(board.is_complete(0));
  REQUIRE_FALSE(board.is_complete(1));
  REQUIRE_THROWS_AS(board.result_flags(1), InternalError);
}

TEST_CASE("Memory of other numbers is refused") {
  Memory memory(2, 3);
  REQUIRE_NOTHROW(NodeBoard(memory.words.data(), 2, 3));
  REQUIRE_THAT(error_text<CommError>([&] { NodeBoard(memory.words.data(), 2, 4); }), Contains("2 ranks and 4 units"));
  REQUIRE_THROWS_AS(NodeBoard(memory.words.data(), 1, 3), CommError);
  memory.words[0] = 0;
  REQUIRE_THROWS_AS(NodeBoard(memory.words.data(), 2, 3), CommError);
}

TEST_CASE("No two writers share 64 bytes, and bells lie apart") {
  for (const int units : {1, 201}) {
    Memory memory(4, units);
    NodeBoard board(memory.words.data(), 4, units);
    REQUIRE(NodeBoard::bytes(4, units) % 64 == 0);
    REQUIRE(board.member_bell() - board.leader_bell() >= 16);
    REQUIRE(*board.leader_bell() == 0);
    REQUIRE(*board.member_bell() == 0);
  }
}

// Each rank of one node is a thread that runs its controller as fast as it can; they share nothing but the board.
TEST_CASE("Ranks of a node as threads agree on order and flags, thousands of steps") {
  constexpr int kRanks = 3, kUnits = 70, kSteps = 400;
  Memory memory(kRanks, kUnits);
  std::vector<std::vector<int>> orders(kRanks);
  std::vector<std::vector<uint32_t>> verdicts(kRanks);
  std::atomic<bool> is_broken{false};
  const auto run = [&](int rank) {
    try {
      DecentralController controller({1, 0, 1, rank, 0}, NodeBoard(memory.words.data(), kRanks, kUnits));
      const auto mine = static_cast<size_t>(rank);
      for (int step = 0; step < kSteps; ++step) {
        controller.step_begin(step);
        int marked = 0;
        while (!controller.step_done()) {
          if (is_broken) return;
          if (marked < kUnits) {
            if (step % 7 == rank && marked == kUnits / 2) controller.raise(1u << (step % kStatusFlagCount));
            controller.mark_ready((marked++ * 11 + rank) % kUnits);
          } else {
            std::this_thread::yield();
          }
          controller.poll();
          for (const AgreedRound& round : controller.take_agreed()) {
            for (const std::vector<int>& group : round.groups) orders[mine].push_back(group[0]);
          }
        }
        verdicts[mine].push_back(controller.step_end());
      }
    } catch (const std::exception&) {
      is_broken = true;
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) threads.emplace_back(run, rank);
  for (std::thread& thread : threads) thread.join();
  REQUIRE_FALSE(is_broken);
  REQUIRE(orders[0].size() == size_t{kUnits} * kSteps);
  for (size_t rank = 1; rank < kRanks; ++rank) {
    REQUIRE(orders[rank] == orders[0]);
    REQUIRE(verdicts[rank] == verdicts[0]);
  }
  int raised = 0;
  for (int step = 0; step < kSteps; ++step) {
    const uint32_t expected = step % 7 < kRanks ? 1u << (step % kStatusFlagCount) : 0;
    raised += expected != 0;
    if (verdicts[0][static_cast<size_t>(step)] != expected) FAIL("step " << step);
  }
  REQUIRE(raised > 100);
}

}  // namespace
}  // namespace bertft
