// Writes what a communicator does as a timeline: comm.timeline, in both modes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/comm_observer.h"
#include "comm/timeline/timeline.h"
#include "comm/world.h"
#include "core/layout.h"

namespace bertft {

// The file that a rank writes for comm.timeline; "" for none. %r stands for the rank, four digits, and gives every rank
// a file; without it rank 0 writes one, as with HOROVOD_TIMELINE.
std::string timeline_path(const std::string& option, int rank);

struct TimelineSettings {
  std::string path;             // as timeline_path() gave it
  std::string reduce_activity;  // "NATIVE_ALLREDUCE": what the transport's sums are called
  bool shows_negotiation =
      false;  // from ready here to agreed, which mode aiacc knows; else the coordinator writes its own
  int lanes = 1;
};

// Per unit: NEGOTIATE_ALLREDUCE, then ALLREDUCE with QUEUE, the sum and the copies within. Per thread of this rank:
// steps with their wait, and the sums of each lane.
class TimelineObserver final : public CommObserver {
 public:
  // Throws ResourceError when the file cannot be made.
  TimelineObserver(const TimelineSettings& settings, const Layout& layout, const World& world);

  // For the coordinator.
  Timeline& timeline() { return timeline_; }

  void step_begins(int64_t step, double now_s) override;
  void unit_is_ready(int unit, double now_s) override;
  void units_are_agreed(const std::vector<int>& units, double now_s) override;
  void sum_begins(int lane, const std::vector<int>& units, double now_s) override;
  void sum_enters(const std::vector<int>& units, SumPhase phase, double now_s) override;
  void sum_ends(int lane, const std::vector<int>& units, double now_s) override;
  void wait_begins(double now_s) override;
  void step_ends(double now_s) override;
  void close() override { timeline_.flush(); }

 private:
  const TensorSpec& tensor(int unit) const { return tensors_.at(static_cast<size_t>(unit)); }

  const TimelineSettings settings_;
  const std::vector<TensorSpec> tensors_;  // by unit
  Timeline timeline_;
};

}  // namespace bertft
