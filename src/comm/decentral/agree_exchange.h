// Numbers that all ranks combine at once: flags by OR, one number by MIN, one by MAX, in ceil(log2 n) phases of
// dissemination. A pure state machine for Communicator::agree(): decisions after an evaluation, times for the tuner.
//
// Driving it: start(mine), receive() for each message, and after each of these send take_messages(); when result() is
// there, the call is over. One call at a time; a peer may be one call ahead, never more, since a call needs all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.h"
#include "comm/control_send.h"
#include "comm/decentral/dissemination.h"

namespace bertft {

// What both say together. Every bit of the result is the same whatever the order: of two numbers that compare equal
// (0 and -0) MIN is the negative one, MAX the positive one; if one is NaN, the result is the quiet NaN.
Agreement combine(const Agreement& a, const Agreement& b);

class AgreeExchange {
 public:
  // `self` of `size` participants: ranks.
  AgreeExchange(uint64_t job, int self, int size);

  // REQUIRES that no call is under way. All participants make the same calls in the same order.
  void start(const Agreement& mine);
  // Throws CommError when the bytes are no message of this job and sender, or come out of order.
  void receive(int from, std::string_view bytes);
  std::vector<ControlSend> take_messages();
  // Once, when the call is over; the next may be started then.
  std::optional<Agreement> result();

 private:
  void advance();
  void send_phase();

  uint64_t job_;
  Dissemination pattern_;
  int64_t call_ = 0;  // the one under way, or the next
  bool under_way_ = false;
  int phase_ = 0;
  Agreement combined_;
  std::vector<std::optional<Agreement>> current_, waiting_;  // per phase, of this call and the next
  std::vector<ControlSend> outbox_;
};

}  // namespace bertft
