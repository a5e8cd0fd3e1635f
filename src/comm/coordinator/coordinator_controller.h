// Horovod's negotiation for the units of a layout: a step begins, units become ready, and out come the groups whose
// sums may start, the same on all ranks. The counterpart of the decentral controller; a state machine like everything
// below it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comm/agreed.h"
#include "comm/coordinator/coordinator_cycle.h"

namespace bertft {

// Who drives it: a thread that ticks every `cycle_ms`, carries the messages, and adds up the groups of each round in
// their order before it ticks again, as Horovod's background thread does. Calls must not overlap: several threads need
// a lock.
//
// Steps: each rank begins the same steps in the same order, marks each unit once in each (units that it has no part in,
// as zeros), and ends it when all units were agreed. So a round never mixes steps. Flags raised by a rank travel with
// the next cycle that it begins and are then forgotten. What a cycle carries belongs to the first step that was not
// wholly agreed before that cycle, which is the same on all ranks, whether they have begun it or not, and acts at its
// end. What is raised after the last step is dropped.
class CoordinatorController {
 public:
  struct Failure {  // the ranks disagree about a unit: its step can never end; all ranks have the same failure
    int unit = 0;
    std::string text;
  };

  // `units`: by unit, different names. `timeline`: see CoordinatorCycle.
  CoordinatorController(const CoordinatorOptions& options, std::vector<TensorSpec> units, Timeline* timeline = nullptr);

  // REQUIRES that the step before has ended.
  void step_begin(int64_t step);
  // Throws InternalError outside of a step and for the second call in one.
  void mark_ready(int unit);
  bool step_done() const { return is_in_step_ && steps_done_ == steps_begun_; }  // all units were handed out
  // The flags that act now, the same on all ranks. REQUIRES step_done().
  uint32_t step_end();
  // From the next announcement on the unit has other traits (all ranks have to say so: else it fails).
  void change_traits(int unit, TensorTraits traits);
  void raise(uint32_t flags) { raised_ |= flags; }
  // Every rank's loop ends with the cycle that this rank begins next; is_shut_down() then holds on all.
  void request_shutdown() { wants_shutdown_ = true; }

  // REQUIRES !is_running() && !is_shut_down(). Without peers the cycle is over on return.
  void tick(double now_s);
  // Throws CommError on messages that do not belong here: the job cannot go on.
  void receive(int from, std::string_view bytes, double now_s);

  // What has come up since the last call.
  std::vector<ControlSend> take_messages() { return cycle_.take_messages(); }
  std::vector<AgreedRound> take_agreed();  // rounds with at least one unit
  std::vector<Failure> take_failures();
  std::vector<CoordinatorStallReport> take_stall_reports();

  bool is_running() const { return cycle_.is_running(); }
  bool is_shut_down() const { return cycle_.is_shut_down(); }
  // Units that this rank has announced and that are not agreed: what a shutdown leaves behind.
  std::vector<int> pending_units() const { return cycle_.queue().all_in_flight(); }
  const std::string& unit_name(int unit) { return cycle_.names().name(unit); }
  int64_t step() const { return step_; }
  const CoordinatorCycle& cycle() const { return cycle_; }  // counters, cache

 private:
  void take_over();

  CoordinatorCycle cycle_;
  std::vector<SharedTraits> units_;

  int64_t step_ = -1;  // the last one begun
  bool is_in_step_ = false;
  int64_t steps_begun_ = 0;
  int64_t steps_done_ = 0;  // wholly agreed; equal on all ranks in the same cycle
  std::vector<bool> is_marked_;
  int agreed_units_ = 0;      // of the step
  int64_t next_round_ = 0;    // of the step
  uint32_t step_flags_ = 0;   // of the step
  uint32_t early_flags_ = 0;  // of the step after it
  uint32_t raised_ = 0;
  bool wants_shutdown_ = false;

  std::vector<AgreedRound> rounds_;
  std::vector<Failure> failures_;
  std::vector<CoordinatorStallReport> stall_reports_;
};

}  // namespace bertft
