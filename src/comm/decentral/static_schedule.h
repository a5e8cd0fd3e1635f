// `negotiate: static`: once three steps have agreed on the same order of units, that order is frozen and no more
// messages are exchanged about it; flags then travel with the gradients. Pure functions and a small state machine; all
// ranks see the same rounds, so all freeze, and go back to negotiation, at the same step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bertft {

// The word that a rank gives to the data plane with each unit of a frozen step and gets back combined by OR:
//   bits 0-7 status flags, bits 8-19 a digest d of layout, schedule and step, bits 20-31 NOT d.
// If two ranks disagree about d, some bit of it is set in both halves of the OR. 0 is a word that says nothing.
struct FlagWord {
  uint32_t flags = 0;
  bool is_mismatch = false;  // ranks disagree about layout, schedule or step
  bool is_complete = false;  // at least one rank's digest is in it
};
uint32_t encode_flag_word(uint32_t flags, uint32_t digest);
FlagWord decode_flag_word(uint32_t word);

constexpr int kStepsBeforeFreezing = 3;

class StaticSchedule {
 public:
  StaticSchedule(int units, uint64_t layout_hash);

  // Freezing is wanted from now on. All ranks call it between the same two steps, never before the tuner has committed.
  void permit() { is_permitted_ = true; }
  // Another cut of the buffer, agreed by all ranks between two steps: negotiation begins anew.
  void reset(int units, uint64_t layout_hash);

  // The mode of the step that begins next.
  bool is_frozen() const { return is_frozen_; }
  // A permutation of all units. REQUIRES is_frozen().
  const std::vector<int>& order() const;
  uint32_t digest(int64_t step) const;  // 12 bits

  // What the step that just ended was: its order as agreed, and the flags that all ranks saw.
  void negotiated_step_ended(const std::vector<int>& order, uint32_t flags);
  void frozen_step_ended(uint32_t flags);
  // All that decides what this machine will do, for tests that explore states.
  void append_state(std::string& out) const;

 private:
  int units_;
  uint64_t layout_hash_;
  bool is_permitted_ = false;
  bool is_frozen_ = false;
  std::vector<int> order_;
  int equal_steps_ = 0;  // steps in a row with this order
  uint64_t order_hash_ = 0;
};

}  // namespace bertft
