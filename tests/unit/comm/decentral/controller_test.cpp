// The controller of a rank from step to step: flags, the frozen schedule and the way back, ranks that disagree.
#include "comm/decentral/controller.h"

#include <memory>

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;

// Nodes of one or more ranks each; messages arrive at once.
class Job {
 public:
  Job(int ranks, int units, bool freezes = true, uint64_t odd_hash = 7, int local_size = 1)
      : units_(units), local_size_(local_size) {
    for (int rank = 0; rank < ranks; ++rank) {
      const int node = rank / local_size, local_rank = rank % local_size;
      if (local_rank == 0) {
        memory_.push_back(std::make_unique<std::vector<uint64_t>>(NodeBoard::bytes(local_size, units) / 8));
        NodeBoard::format(memory_.back()->data(), local_size, units);
      }
      const uint64_t hash = rank == 0 ? odd_hash : 7;
      controllers_.emplace_back(DecentralOptions{1, node, ranks / local_size, local_rank, hash},
                                NodeBoard(memory_.back()->data(), local_size, units));
      if (freezes) controllers_.back().permit_freezing();
    }
  }

  DecentralController& at(int rank) { return controllers_[static_cast<size_t>(rank)]; }
  int64_t messages() const { return messages_; }

  void deliver() {
    for (DecentralController& c : controllers_) c.poll();
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t rank = 0; rank < controllers_.size(); ++rank) {
        for (const ControlSend& message : controllers_[rank].take_messages()) {
          at(message.to * local_size_).receive(static_cast<int>(rank) / local_size_, message.bytes);
          ++messages_;
          moved = true;
        }
      }
    }
  }

  // One step in which all ranks mark in `order`; returns the order agreed.
  std::vector<int> step(int64_t step, const std::vector<int>& order) {
    std::vector<int> agreed;
    for (DecentralController& c : controllers_) c.step_begin(step);
    for (const int unit : order) {
      for (DecentralController& c : controllers_) c.mark_ready(unit);
      deliver();
    }
    for (size_t rank = 0; rank < controllers_.size(); ++rank) {
      std::vector<int> mine;
      for (const AgreedRound& round : controllers_[rank].take_agreed()) {
        for (const std::vector<int>& group : round.groups) mine.push_back(group[0]);
      }
      if (rank > 0) REQUIRE(mine == agreed);
      agreed = mine;
    }
    if (at(0).is_frozen_step()) move_data();
    return agreed;
  }

  std::vector<uint32_t> end() {
    std::vector<uint32_t> verdicts;
    for (DecentralController& c : controllers_) verdicts.push_back(c.step_end());
    return verdicts;
  }

 private:
  void move_data() {
    for (int unit = 0; unit < units_; ++unit) {
      uint32_t word = 0;
      for (const DecentralController& c : controllers_) word |= c.flag_word();
      for (DecentralController& c : controllers_) c.unit_done(unit, word);
    }
  }

  int units_;
  int local_size_;
  std::vector<std::unique_ptr<std::vector<uint64_t>>> memory_;
  std::vector<DecentralController> controllers_;
  int64_t messages_ = 0;
};

using Order = std::vector<int>;

TEST_CASE("After three steps of one order there are no messages, a surprise brings them back on all ranks") {
  Job job(3, 3);
  const Order order = {2, 0, 1};
  int64_t step = 0;
  const auto run = [&](const Order& marks) {
    const Order agreed = job.step(++step, marks);
    job.end();
    return agreed;
  };
  for (int i = 0; i < 3; ++i) REQUIRE(run(order) == order);
  const int64_t before = job.messages();
  REQUIRE(before == 3 * 3 * 3 * 2);  // steps, units, ranks, phases
  for (int i = 0; i < 5; ++i) {
    REQUIRE(run({0, 1, 2}) == order);  // however units become ready, the frozen order stands
    REQUIRE(job.messages() == before);
  }
  job.at(1).raise(kFlagSurprise);
  REQUIRE(run(order) == order);  // the step goes on as it is
  REQUIRE(job.messages() == before);
  const Order other = {1, 2, 0};
  for (int i = 0; i < 3; ++i) {
    REQUIRE(run(other) == other);
    REQUIRE_FALSE(job.at(0).is_frozen_step());
  }
  REQUIRE(job.messages() == 2 * before);
  REQUIRE(run(order) == other);  // frozen anew
  REQUIRE(job.messages() == 2 * before);
}

TEST_CASE("Nodes of several ranks freeze their order and go back to negotiation together") {
  Job job(6, 2, true, 7, 3);
  int64_t step = 0;
  for (int times = 0; times < 3; ++times) {
    const Order order = times % 2 == 0 ? Order{0, 1} : Order{1, 0};
    const int64_t before = job.messages();
    for (int i = 0; i < 3; ++i) {
      REQUIRE(job.step(step++, order) == order);
      for (int rank = 0; rank < 6; ++rank) REQUIRE_FALSE(job.at(rank).is_frozen_step());
      job.end();
    }
    REQUIRE(job.messages() == before + 3 * 2 * 2);  // steps, units, nodes
    // An odd number of frozen steps, so that the slots of the results change places.
    for (int i = 0; i <= 2 * times; ++i) {
      if (i == 2 * times) job.at(5 - times).raise(kFlagSurprise);
      REQUIRE(job.step(step++, {1, 0}) == order);
      for (int rank = 0; rank < 6; ++rank) REQUIRE(job.at(rank).is_frozen_step());
      const uint32_t verdict = i == 2 * times ? uint32_t{kFlagSurprise} : 0;
      REQUIRE(job.end() == std::vector<uint32_t>(6, verdict));
    }
    REQUIRE(job.messages() == before + 3 * 2 * 2);
  }
}

TEST_CASE("An order that changes, or no permission, keeps a job negotiating") {
  Job changing(2, 2);
  for (int step = 0; step < 8; ++step) {
    changing.step(step, step % 3 == 0 ? Order{0, 1} : Order{1, 0});
    REQUIRE_FALSE(changing.at(0).is_frozen_step());
    changing.end();
  }
  Job forbidden(2, 2, false);
  for (int step = 0; step < 6; ++step) {
    forbidden.step(step, {0, 1});
    REQUIRE_FALSE(forbidden.at(1).is_frozen_step());
    forbidden.end();
  }
  for (int rank = 0; rank < 2; ++rank) forbidden.at(rank).permit_freezing();
  forbidden.step(6, {0, 1});
  forbidden.end();
  forbidden.step(7, {0, 1});
  REQUIRE(forbidden.at(0).is_frozen_step());
}

TEST_CASE("A frozen unit that is late is waited for, and with it those behind it") {
  Job job(1, 3);
  for (int step = 0; step < 3; ++step) {
    job.step(step, {0, 1, 2});
    job.end();
  }
  DecentralController& rank = job.at(0);
  rank.step_begin(3);
  rank.mark_ready(1);
  REQUIRE(rank.take_agreed().empty());
  rank.mark_ready(0);
  REQUIRE(rank.take_agreed() == std::vector<AgreedRound>{{3, 0, {{0}}, 0}, {3, 1, {{1}}, 0}});
  REQUIRE(rank.take_agreed().empty());
  rank.mark_ready(2);
  REQUIRE(rank.take_agreed() == std::vector<AgreedRound>{{3, 2, {{2}}, 0}});
  for (int unit = 0; unit < 3; ++unit) {
    REQUIRE_FALSE(rank.step_done());
    rank.unit_done(unit, unit == 2 ? rank.flag_word() : 0);
  }
  REQUIRE(rank.step_done());
  REQUIRE(rank.step_end() == 0);
}

TEST_CASE("A flag raised between steps acts in the next one, in both modes") {
  Job job(2, 1);
  for (int step = 0; step < 8; ++step) {
    const uint32_t flag = step % 2 == 0 ? kFlagSave : kFlagNonFinite;
    job.at(step % 2).raise(flag);
    job.step(step, {0});
    REQUIRE(job.at(0).is_frozen_step() == (step >= 3));
    REQUIRE(job.end() == std::vector<uint32_t>{flag, flag});
  }
  job.step(8, {0});
  REQUIRE(job.end() == std::vector<uint32_t>{0, 0});
}

TEST_CASE("Ranks whose layouts differ are found out by the flag words of a frozen step, all of them") {
  Job job(3, 2, true, 8);  // rank 0 has another layout
  for (int step = 0; step < 3; ++step) {
    job.step(step, {0, 1});
    job.end();
  }
  job.step(3, {0, 1});
  for (int rank = 0; rank < 3; ++rank) {
    REQUIRE_THAT(error_text<CommError>([&] { job.at(rank).step_end(); }),
                 Contains("disagree") && Contains("at step 3"));
  }
}

TEST_CASE("Flag words: OR finds every pair of different digests") {
  for (uint32_t a = 0; a < 4096; a += 5) {
    for (uint32_t b = 0; b < 4096; b += 7) {
      const FlagWord both = decode_flag_word(encode_flag_word(kFlagStop, a) | encode_flag_word(kFlagSave, b));
      if (both.is_mismatch != (a != b) || !both.is_complete || both.flags != (kFlagStop | kFlagSave)) {
        FAIL(a << " and " << b);
      }
    }
  }
  REQUIRE_FALSE(decode_flag_word(0).is_complete);
  REQUIRE_FALSE(decode_flag_word(0).is_mismatch);
}

TEST_CASE("A frozen step without a flag word, or a unit done twice, is a bug that is caught") {
  Job job(1, 1);
  for (int step = 0; step < 3; ++step) {
    job.step(step, {0});
    job.end();
  }
  DecentralController& rank = job.at(0);
  rank.step_begin(3);
  REQUIRE_THROWS_AS(rank.unit_done(0, 0), InternalError);  // not marked
  rank.mark_ready(0);
  rank.take_agreed();
  rank.unit_done(0, 0);
  REQUIRE_THROWS_AS(rank.unit_done(0, 0), InternalError);
  REQUIRE_THROWS_AS(rank.step_end(), InternalError);
}

TEST_CASE("Calls out of order are caught") {
  Job job(1, 2, false);
  DecentralController& rank = job.at(0);
  REQUIRE_THROWS_AS(rank.mark_ready(0), InternalError);
  rank.step_begin(0);
  REQUIRE_THROWS_AS(rank.step_begin(1), InternalError);
  rank.mark_ready(0);
  REQUIRE_THROWS_AS(rank.mark_ready(0), InternalError);
  REQUIRE_THROWS_AS(rank.step_end(), InternalError);
  REQUIRE_THROWS_AS(rank.flag_word(), InternalError);
  REQUIRE_THROWS_AS(rank.raise(1u << 20), InternalError);
}

}  // namespace
}  // namespace bertft
