// The collectives of a cycle (AND, OR, gather of byte strings, broadcast) as a state machine of one rank: messages in,
// messages out, no waiting. CoordinatorCycle starts one after the other; a driver, a thread or a simulator carries the
// messages.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "comm/control_send.h"
#include "comm/coordinator/cycle_message.h"
#include "comm/coordinator/cycle_topology.h"

namespace bertft {

// What this rank sent; headers are part of the bytes.
struct CycleCounts {
  int64_t messages = 0;
  int64_t bytes = 0;
  CycleCounts& operator+=(const CycleCounts& other) {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
};

// Messages are reliable and keep their order between each pair of ranks; other orders do not matter. A peer may be one
// cycle ahead, never two, since no cycle ends before every rank has taken part: what comes early is kept.
class CycleCollectives {
 public:
  struct Options {
    int rank = 0;
    int size = 1;
    uint64_t job = 0;
    CycleTree tree = CycleTree::kBinomial;
  };

  explicit CycleCollectives(const Options& options);

  // One after the other: begin_cycle, collectives each after the one before is done, end_cycle. All ranks start the
  // same collectives in the same order; without peers they are done at once.
  void begin_cycle(int64_t steps_done);
  void start_and(std::vector<uint64_t> words, uint32_t flags);  // `flags` are combined by OR on the way
  void start_or(std::vector<uint64_t> words);
  // Lengths, then the texts themselves; the texts of the others reach rank 0 only. `flags` of all ranks reach rank 0.
  void start_gather(std::string mine, uint32_t flags);
  // Length, then text. `text` is of rank 0, others pass an empty one. `flags` of rank 0 reach all.
  void start_broadcast(std::string text, uint32_t flags);
  void end_cycle();

  bool is_done() const { return state_ == State::kDone; }
  // Of the collective that is done.
  uint32_t flags() const { return flags_; }
  const std::vector<uint64_t>& words() const { return words_; }
  std::vector<std::string>& gathered() { return texts_; }  // by rank, at rank 0
  const std::string& text() const { return text_; }

  // Throws CommError on whatever does not belong here: malformed, of another job, not expected from this rank,
  // repeated, of a cycle that is over or too far ahead. Such a job cannot go on.
  void receive(int from, std::string_view bytes);
  std::vector<ControlSend> take_messages();

  int64_t cycle() const { return cycle_; }  // of the one that runs, or the last one; 0 before the first
  const CycleCounts& sent(CycleStage stage) const { return sent_[static_cast<size_t>(stage)]; }
  CycleCounts sent() const;

 private:
  enum class State { kDone, kReducing, kGatheringLengths, kGatheringTexts, kLengthOfText, kText };
  struct Arrived {
    uint32_t flags;
    int64_t steps_done;
    std::string payload;
  };
  using Key = std::tuple<int64_t, CycleStage, int, int>;  // cycle, stage, phase, from

  void send(int to, CycleStage stage, int phase, uint32_t flags, std::string_view payload);
  // Moves the message out of what has arrived; false when it has not.
  bool take(CycleStage stage, int phase, int from, Arrived* message);
  bool is_expected(CycleStage stage, int phase, int from) const;
  void advance();
  void start_reduction(std::vector<uint64_t> words, uint32_t flags, CycleStage stage);
  // Each does what can be done now; false when it waits for a message.
  bool advance_reduction();
  bool combine(const ExchangeStep& step);
  bool advance_lengths();
  bool advance_texts();
  bool advance_length_of_text();
  bool advance_text();

  Options options_;
  CycleTreePlace place_;
  std::vector<ExchangeStep> exchange_;
  std::map<Key, Arrived> arrived_;
  std::vector<ControlSend> outgoing_;
  std::array<CycleCounts, kCycleStages> sent_;

  int64_t cycle_ = 0;
  int64_t steps_done_ = 0;
  bool is_in_cycle_ = false;
  State state_ = State::kDone;
  CycleStage stage_ = CycleStage::kAnd;  // of a reduction
  size_t next_step_ = 0;                 // of exchange_
  bool has_sent_step_ = false;
  int next_rank_ = 0;  // whose length or text this rank waits for
  uint32_t flags_ = 0;
  std::vector<uint64_t> words_;
  std::vector<uint32_t> lengths_;  // of this rank and those below it
  std::vector<std::string> texts_;
  std::string text_;
};

}  // namespace bertft
