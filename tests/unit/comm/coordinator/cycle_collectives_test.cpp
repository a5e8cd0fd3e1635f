// AND, OR, gather and broadcast on 1 to 17 ranks, and every kind of message that has no place there.
#include "comm/coordinator/cycle_collectives.h"

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {
using Catch::Contains;

namespace {

constexpr uint64_t kJob = 77;

std::string message(CycleHeader header, const std::string& payload = {}) {
  header.job = header.job == 0 ? kJob : header.job;
  return encode(header, payload);
}

// Runs `start` on all ranks and carries all messages.
template <typename Start>
void run(std::vector<CycleCollectives>& ranks, Start start) {
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    start(ranks[rank], static_cast<int>(rank));
  }
  for (bool is_moving = true; is_moving;) {
    is_moving = false;
    for (size_t from = 0; from < ranks.size(); ++from) {
      for (const auto& outgoing : ranks[from].take_messages()) {
        is_moving = true;
        ranks[static_cast<size_t>(outgoing.to)].receive(static_cast<int>(from), outgoing.bytes);
      }
    }
  }
}

std::vector<CycleCollectives> in_cycle(int size, CycleTree tree) {
  std::vector<CycleCollectives> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.push_back(CycleCollectives({rank, size, kJob, tree}));
    ranks.back().begin_cycle(0);
  }
  return ranks;
}

// Rank 1 of 2, in cycle 1 and an AND of one word.
CycleCollectives waiting_rank() {
  CycleCollectives rank({1, 2, kJob, CycleTree::kBinomial});
  rank.begin_cycle(5);
  rank.start_and({3}, 0);
  return rank;
}

const CycleHeader kFine{CycleStage::kAnd, 1, 0, kJob, 5, 1};
const std::string kWord(8, '\1');

}  // namespace

TEST_CASE("AND and OR reach all ranks, whatever their number, flags by OR with both") {
  for (int size = 1; size <= 17; ++size) {
    auto ranks = in_cycle(size, CycleTree::kBinomial);
    for (int odd = 0; odd < size; ++odd) {  // the rank that differs
      run(ranks, [&](CycleCollectives& rank, int number) {
        rank.start_and({~uint64_t{0}, number == odd ? uint64_t{5} : uint64_t{7}}, number == odd ? 4 : 1);
      });
      for (const CycleCollectives& rank : ranks) {
        REQUIRE(rank.is_done());
        CHECK(rank.words() == std::vector<uint64_t>{~uint64_t{0}, 5});
        CHECK(rank.flags() == (size == 1 ? 4u : 5u));
      }
      for (CycleCollectives& rank : ranks) {
        rank.end_cycle();
        rank.begin_cycle(0);
      }
      run(ranks, [&](CycleCollectives& rank, int number) {
        rank.start_or({number == odd ? uint64_t{8} : uint64_t{0}, uint64_t{1} << number});
      });
      for (CycleCollectives& rank : ranks) {
        REQUIRE(rank.is_done());
        CHECK(rank.words() == std::vector<uint64_t>{8, (uint64_t{1} << size) - 1});
        rank.end_cycle();
        rank.begin_cycle(0);
      }
    }
  }
}

TEST_CASE("texts are gathered at rank 0 in rank order and broadcast from there") {
  for (const CycleTree tree : {CycleTree::kBinomial, CycleTree::kLinear}) {
    for (int size = 1; size <= 17; ++size) {
      auto ranks = in_cycle(size, tree);
      run(ranks, [](CycleCollectives& rank, int number) {
        rank.start_gather(std::string(static_cast<size_t>(number), 'a'), number == 2 ? 8 : 0);
      });
      for (const CycleCollectives& rank : ranks) {
        REQUIRE(rank.is_done());
      }
      REQUIRE(ranks[0].gathered().size() == static_cast<size_t>(size));
      for (int rank = 0; rank < size; ++rank) {
        CHECK(ranks[0].gathered()[static_cast<size_t>(rank)] == std::string(static_cast<size_t>(rank), 'a'));
      }
      CHECK(ranks[0].flags() == (size > 2 ? 8u : 0u));
      run(ranks, [](CycleCollectives& rank, int number) {
        rank.start_broadcast(number == 0 ? "an answer" : "", number == 0 ? 2 : 0);
      });
      for (CycleCollectives& rank : ranks) {
        REQUIRE(rank.is_done());
        CHECK(rank.text() == "an answer");
        CHECK(rank.flags() == 2);
        CHECK_NOTHROW(rank.end_cycle());
      }
    }
  }
}

TEST_CASE("a message of the next cycle waits until this rank begins it") {
  CycleCollectives rank = waiting_rank();
  rank.receive(0, message({CycleStage::kAnd, 1, 0, kJob, 5, 1}, std::string("\3\0\0\0\0\0\0\0", 8)));
  REQUIRE(rank.is_done());
  rank.receive(0, message({CycleStage::kAnd, 1, 2, kJob, 6, 2}, std::string("\1\0\0\0\0\0\0\0", 8)));
  CHECK(rank.words() == std::vector<uint64_t>{3});
  rank.end_cycle();
  rank.begin_cycle(6);
  rank.start_and({7}, 4);
  CHECK(rank.is_done());
  CHECK(rank.words() == std::vector<uint64_t>{1});
  CHECK(rank.flags() == 6);
}

TEST_CASE("messages that do not belong here are refused") {
  CHECK_NOTHROW(waiting_rank().receive(0, message(kFine, kWord)));
  const auto refusal = [](CycleHeader header, const std::string& payload = kWord) {
    CycleCollectives rank = waiting_rank();
    try {
      rank.receive(0, message(header, payload));
    } catch (const CommError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CycleHeader header = kFine;
  header.job = kJob + 1;
  CHECK_THAT(refusal(header), Contains("another job"));
  header = kFine;
  header.cycle = 0;
  CHECK_THAT(refusal(header), Contains("cycle 0 while this rank is in cycle 1"));
  header.cycle = 3;
  CHECK_THAT(refusal(header), Contains("cycle 3"));
  header = kFine;
  header.steps_done = 4;
  CHECK_THAT(refusal(header), Contains("agreed on 4 steps"));
  header = kFine;
  header.phase = 2;
  CHECK_THAT(refusal(header), Contains("does not expect"));
  header = kFine;
  header.stage = CycleStage::kRequests;  // only rank 0 gets those
  CHECK_THAT(refusal(header), Contains("does not expect"));
  CHECK_THAT(refusal(kFine, "short"), Contains("malformed vector of rank 0"));
  CHECK_THAT(refusal(kFine, kWord + kWord), Contains("malformed vector of rank 0"));
}

TEST_CASE("a message that comes twice, or that nobody waits for, is refused") {
  CycleCollectives rank = waiting_rank();
  rank.receive(0, message({CycleStage::kAnd, 1, 0, kJob, 5, 2}, kWord));
  CHECK_THROWS_WITH(rank.receive(0, message({CycleStage::kAnd, 1, 0, kJob, 5, 2}, kWord)), Contains("twice"));
  CycleCollectives other = waiting_rank();
  other.receive(0, message({CycleStage::kOr, 1, 0, kJob, 5, 1}, kWord));
  other.receive(0, message(kFine, kWord));
  REQUIRE(other.is_done());
  CHECK_THROWS_WITH(other.end_cycle(), Contains("nobody waits for"));
}

TEST_CASE("announced lengths are held to") {
  CycleCollectives root({0, 2, kJob, CycleTree::kBinomial});
  root.begin_cycle(0);
  root.start_gather("", 0);
  root.receive(1, message({CycleStage::kLengths, 0, 0, kJob, 0, 1}, std::string("\5\0\0\0", 4)));
  CHECK_THROWS_WITH(root.receive(1, message({CycleStage::kRequests, 0, 0, kJob, 0, 1}, "four")),
                    Contains("announced 5 bytes and sent 4"));
  CycleCollectives leaf({1, 2, kJob, CycleTree::kBinomial});
  leaf.begin_cycle(0);
  leaf.start_broadcast("", 0);
  leaf.receive(0, message({CycleStage::kResponseLength, 0, 0, kJob, 0, 1}, std::string("\5\0\0\0", 4)));
  CHECK_THROWS_WITH(leaf.receive(0, message({CycleStage::kResponses, 0, 0, kJob, 0, 1}, "sixsix")),
                    Contains("5 bytes"));
}

}  // namespace bertft
