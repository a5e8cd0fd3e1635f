// A job with a frozen schedule as one state that an explorer can branch: the real controllers, and a data plane reduced
// to what matters for flags. Each unit is cut into one slice a rank; a rank contributes its flag word to each slice in
// turn, the slice's owner closes the word when all have, and each rank gets the closed words back in its own time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/decentral/controller.h"
#include "tests/unit/comm/decentral/explorer.h"
#include "tests/unit/comm/decentral/model_action.h"

namespace bertft::test {

struct StaticOptions {
  int ranks = 2;
  int units = 1;
  int lanes = 1;                 // unit at place p of the order travels on lane p % lanes
  int steps = 2;                 // after those that froze the order
  std::vector<uint32_t> raises;  // flags that any rank may raise at any time, in this order
  bool words_close_once = true;  // the owner gives the same word to everybody
  DecentralRules rules = {};
};

class StaticModel {
 public:
  // Runs three negotiated steps, so that exploration begins where all ranks have frozen their order.
  explicit StaticModel(const StaticOptions& options);

  std::vector<int> actions() const;
  static std::string name(int action) { return name_of_action(action); }
  void apply(int action);
  std::string fingerprint() const;
  void check_stuck() const;

  int64_t frozen_steps() const { return frozen_steps_; }  // ends of steps, over all ranks

 private:
  // A unit's way through the data plane at one rank.
  struct Transfer {
    int unit = 0;
    int contributed = 0;    // slices
    uint32_t returned = 0;  // bit per slice
    uint32_t word = 0;
    bool is_done = false;
  };

  struct Rank {
    Rank(const StaticOptions& options, int number);
    Rank(const Rank& other);
    std::vector<uint64_t> words;  // of the board
    DecentralController controller;
    std::vector<Transfer> transfers;  // of this step, in order; their lane is their place % lanes
    int64_t ended = 0;
    bool in_step = false;
    uint32_t raised = 0, owed = 0;
  };

  struct Slice {
    int64_t step = -1;
    uint32_t contributors = 0;
    uint32_t word = 0;
  };

  Rank& edit(int number);
  const Rank& rank(int number) const { return *ranks_[static_cast<size_t>(number)]; }
  std::vector<std::string>& link(int from, int to) { return links_[static_cast<size_t>(from * options_.ranks + to)]; }
  const std::vector<std::string>& link(int from, int to) const {
    return links_[static_cast<size_t>(from * options_.ranks + to)];
  }
  Slice& slice(int64_t step, int unit, int number);
  const Slice& slice(int64_t step, int unit, int number) const;
  int next_on_lane(const Rank& rank, int lane) const;

  void add_transfers(int number, std::vector<int>& actions) const;
  void settle(int number);
  void begin(int number);
  void end(int number);
  void contribute(int number, int place);
  void give_back(int number, int place, int slice_number);

  StaticOptions options_;
  std::vector<std::shared_ptr<Rank>> ranks_;
  std::vector<std::vector<std::string>> links_;
  std::vector<Slice> slices_;  // step parity x unit x slice; two steps are enough, as in the node's results
  size_t raisings_ = 0;
  int64_t last_step_ = 0;
  int64_t frozen_steps_ = 0;
  std::vector<int64_t> verdicts_, modes_;  // per step, -1 while nobody knows
};

}  // namespace bertft::test
