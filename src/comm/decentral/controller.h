// The decentral controller of one rank: says which units may be summed now, in an order that is the same on all ranks,
// and which flags act at the end of each step. Ranks of a node meet on a NodeBoard, their leaders negotiate by
// messages, and with a frozen schedule nobody does. A pure state machine: no thread, socket or clock.
//
// Driving it, under one lock a process:
//   compute thread   step_begin(s); mark_ready(u) for each unit as backward finishes it; raise() at any time;
//                    wait until step_done() and the sums of all units are made; step_end()
//   comm thread      on a message: receive(). On the bell of the leader (leader) or the members (others): poll().
// After any of these calls: send take_messages(), hand take_agreed() to the lanes, and ring the bells that
// take_bells() names, so that the other ranks of the node look at the board (see node_board.h for who sleeps how).
// In a frozen step each unit's data travels with flag_word(), read when this rank contributes to it; the OR over all
// ranks, closed once for each slice by its owner and the same on all ranks, comes back through unit_done().
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "comm/agreed.h"
#include "comm/control_send.h"
#include "comm/decentral/negotiation.h"
#include "comm/decentral/node_board.h"
#include "comm/decentral/rules.h"
#include "comm/decentral/static_schedule.h"

namespace bertft {

struct DecentralOptions {
  uint64_t job = 0;
  int node = 0;
  int nodes = 1;
  int local_rank = 0;  // 0 leads the node: messages go to it and come from it
  uint64_t layout_hash = 0;
};

struct Bells {
  bool leader = false;
  bool members = false;
};

class DecentralController {
 public:
  // `board` is that of this node; its units are those of the layout.
  DecentralController(const DecentralOptions& options, const NodeBoard& board, const DecentralRules& rules = {});
  // The same state over another board, for tests that branch.
  DecentralController(const DecentralController& other, const NodeBoard& board);

  bool is_leader() const { return negotiation_.has_value(); }

  // REQUIRES that the step before has ended and that all ranks begin the same steps, in ascending order.
  void step_begin(int64_t step);
  // Each unit exactly once a step, by this rank.
  void mark_ready(int unit);
  // StatusFlag bits that all ranks shall learn of. They act at the end of this step, if it is not too late for it, or
  // of the next one; after the last step they are dropped. Raising a flag starts no message.
  void raise(uint32_t flags);
  void poll();
  // Leaders only. Throws CommError as Negotiation does.
  void receive(int from_node, std::string_view bytes);

  std::vector<ControlSend> take_messages();  // `to` is a node: its leader
  // Rounds with at least one unit, each unit alone in its group, in the order in which all ranks start them. In a
  // frozen step they are numbered by their place in the schedule.
  std::vector<AgreedRound> take_agreed();
  Bells take_bells();

  // Freezing the order is wanted from now on; see StaticSchedule::permit().
  void permit_freezing() { schedule_.permit(); }
  bool is_frozen_step() const { return frozen_; }
  // For the next contribution of this rank to the data of a frozen step.
  uint32_t flag_word() const;
  // The sum of `unit` is made and `word` came back with it: the OR over its slices and lanes. A transport that combines
  // flags once a step gives 0 for all other units. REQUIRES a frozen step.
  void unit_done(int unit, uint32_t word);

  // All units have been handed out and the flags of the step are known.
  bool step_done() const;
  // Ends the step; returns the flags that act now, the same on all ranks. Throws CommError when the flag words of a
  // frozen step show that ranks disagree about layout or schedule. REQUIRES step_done().
  uint32_t step_end();

  // For reports about stalls.
  int64_t step() const { return step_; }
  const UnitSet& marked() const { return marked_; }  // by this rank, in this step
  const NodeBoard& board() const { return board_; }
  const Negotiation* negotiation() const { return negotiation_ ? &*negotiation_ : nullptr; }
  // All that decides what this machine will do, the board's words aside; for tests that explore states.
  void append_state(std::string& out) const;

 private:
  void lead();
  std::vector<AgreedRound> next_of_schedule();

  DecentralOptions options_;
  DecentralRules rules_;
  NodeBoard board_;
  std::optional<Negotiation> negotiation_;
  StaticSchedule schedule_;

  int64_t step_ = -1;
  bool in_step_ = false;
  bool frozen_ = false;   // the mode of this step
  uint32_t pending_ = 0;  // raised here, not acted on yet
  UnitSet marked_;
  std::vector<int> order_;  // handed out in this step
  UnitSet done_;            // frozen: their words are back
  uint32_t words_ = 0;      // frozen: OR of them
  Bells bells_;
};

}  // namespace bertft
