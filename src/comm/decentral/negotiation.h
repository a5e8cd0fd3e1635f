// How the leaders of the nodes agree which units are ready everywhere: rounds of dissemination over one bit per unit
// and one per status flag, started by events, never by a timer. A pure state machine: no thread, socket or clock. The
// rules and why each is there: docs/communicator.md; all orders of delivery are explored in tests/unit/comm/decentral.
//
// Driving it (one thread, or under one lock):
//   step_begin(s)                       once this node's leader enters step s
//   poll()                              after anything in the source may have changed
//   receive(from, bytes)                for each message, in the order in which each sender sent them
// and after each of these send take_messages() and act on take_agreed().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/agreed.h"
#include "comm/control_send.h"
#include "comm/decentral/dissemination.h"
#include "comm/decentral/message.h"
#include "comm/decentral/readiness.h"
#include "comm/decentral/rules.h"

namespace bertft {

struct NegotiationOptions {
  uint64_t job = 0;
  int node = 0;   // this one
  int nodes = 1;  // messages go to nodes: their leaders
  int units = 0;  // > 0
};

// Where a negotiation stands, for reports about stalls.
struct NegotiationPosition {
  int64_t step = -1;
  int64_t round = 0;
  bool in_flight = false;
  int phase = 0;         // of the round in flight
  int waiting_for = -1;  // node whose message that phase needs
  UnitSet agreed;        // in this step
};

struct NegotiationCounters {
  int64_t rounds = 0;  // completed
  int64_t phases = 0;
  int64_t messages = 0;  // sent; as many are received
  int64_t bytes = 0;     // sent
  int64_t started = 0;   // rounds that this node started by itself, not on a message
};

class Negotiation {
 public:
  explicit Negotiation(const NegotiationOptions& options, const DecentralRules& rules = {});

  // REQUIRES that the step before is done and that `step` is later. Steps may be left out, by all nodes alike.
  void step_begin(int64_t step, const ReadinessSource& source);
  void poll(const ReadinessSource& source);
  // Throws CommError when the bytes are no message of this job, layout and sender, or come out of order.
  void receive(int from, std::string_view bytes, const ReadinessSource& source);

  std::vector<ControlSend> take_messages();
  // Completed rounds in order, those without a unit included.
  std::vector<AgreedRound> take_agreed();

  // Every unit of the step is agreed: nothing more is sent, or waited for, before the next step_begin().
  bool step_done() const { return !open_; }
  // OR of the flags of all rounds of the step. REQUIRES step_done().
  uint32_t flags() const;
  NegotiationPosition position() const;
  const NegotiationCounters& counters() const { return counters_; }
  // All that decides what this machine will do, for tests that explore states.
  void append_state(std::string& out) const;

 private:
  struct Slot {
    std::optional<Contribution> message;
    int64_t step = 0;
    int32_t round = 0;
  };

  enum class Cause { kLocal, kMessage };

  bool was_called() const;
  bool wants_round(const ReadinessSource& source) const;
  void advance(const ReadinessSource& source, Cause cause);
  void join(const Readiness& now);
  Contribution outgoing(const ReadinessSource& source) const;
  void send_phase(const ReadinessSource& source);
  void finish_round(const Contribution& result);
  void enter_early(int64_t step, const ReadinessSource& source);
  void let_waiting_in();

  NegotiationOptions options_;
  DecentralRules rules_;
  Dissemination pattern_;

  int64_t step_ = -1;
  bool open_ = false;  // in a step that is not done
  int32_t round_ = 0;  // the one in flight, or the next
  bool in_flight_ = false;
  int phase_ = 0;  // phases of the round in flight that have been received
  Contribution combined_;
  UnitSet contributed_;  // at the last joining in this step
  UnitSet agreed_;       // in this step
  uint32_t flags_ = 0;
  std::vector<Slot> current_;  // per phase, of the round in flight or the next
  std::vector<Slot> waiting_;  // per phase, of the one after it; never more

  std::vector<ControlSend> outbox_;
  std::vector<AgreedRound> done_;
  NegotiationCounters counters_;
};

}  // namespace bertft
