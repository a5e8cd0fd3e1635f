// N coordinators in one thread with the messages between them: in lockstep, or with every delay and order that a seed
// picks. The messages of each pair of ranks keep their order; nothing else does.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/coordinator/coordinator_controller.h"

namespace bertft {

// `count` units "unit.<i>" of float32 with `elements` elements each.
std::vector<TensorSpec> plain_units(int count, int64_t elements = 4);

class CoordinatorWorld {
 public:
  using Change = void (*)(int rank, std::vector<TensorSpec>& units);

  // `options.rank` is set for each rank. `change` may give a rank other units than the rest.
  CoordinatorWorld(const CoordinatorOptions& options, const std::vector<TensorSpec>& units, Change change = nullptr,
                   Timeline* timeline = nullptr);

  int size() const { return static_cast<int>(ranks_.size()); }
  CoordinatorController& rank(int rank) { return *ranks_[static_cast<size_t>(rank)]; }

  // On all ranks; step_begin ends the step before.
  void step_begin(int64_t step);
  void mark(int unit);
  void mark(int unit, const std::vector<int>& ranks);
  // All ranks begin a cycle and all messages are delivered until it is over everywhere.
  void cycle(double now_s = 0.0);
  // Takes what has come up: all rounds so far of a rank.
  const std::vector<AgreedRound>& rounds(int rank);
  void collect();

  // A single event, for tests that choose: what a rank has to say goes to its channels; the oldest message of a channel
  // is delivered.
  void tick(int rank, double now_s);
  std::vector<std::pair<int, int>> open_channels() const;  // from, to
  void deliver(int from, int to, double now_s);

  CycleCounts sent(CycleStage stage) const;  // by all ranks
  CycleCounts sent() const;
  int64_t messages_at(int rank) const;  // sent and received
  // The longest chain of messages of one stage, in one cycle, of which each waited for the one before.
  int longest_chain(CycleStage stage) const { return longest_[static_cast<size_t>(stage)]; }
  // Names of the cached tensors by bit.
  std::vector<std::string> cached(int rank);

 private:
  struct Message {
    std::string bytes;
    CycleStage stage;
    int64_t cycle;
    int chain;
  };
  void post(int from);
  int& chain(int rank, CycleStage stage, int64_t cycle);

  std::vector<std::unique_ptr<CoordinatorController>> ranks_;
  std::map<std::pair<int, int>, std::deque<Message>> channels_;  // those with messages on their way
  std::vector<std::vector<AgreedRound>> rounds_;
  std::vector<int64_t> received_;
  std::vector<std::pair<int64_t, std::vector<int>>> chains_;  // by rank: cycle, longest chain that ended here by stage
  std::vector<int> longest_;
};

}  // namespace bertft
