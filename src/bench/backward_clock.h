// Emulated compute: units of a layout become ready one after the other over a given time, as backward makes them.
#pragma once

#include <functional>
#include <vector>

#include "core/layout.h"

namespace bertft {

enum class ComputeKind {
  kBusy,   // the compute thread works, as a processor's does
  kSleep,  // it sleeps, as one that waits for an accelerator
};

class BackwardClock {
 public:
  // A unit is ready when its share of all elements, counted from the first unit, of `compute_s` has passed.
  BackwardClock(const Layout& layout, double compute_s, ComputeKind kind);

  double ready_s(int unit) const { return ready_s_.at(static_cast<size_t>(unit)); }
  // Calls mark_ready(unit) for each unit in turn, never before its time, which counts from this call.
  void run(const std::function<void(int unit)>& mark_ready) const;

 private:
  ComputeKind kind_;
  std::vector<double> ready_s_;
};

}  // namespace bertft
