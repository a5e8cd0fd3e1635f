#include "bench/backward_clock.h"

#include <chrono>
#include <thread>

#include "core/timer.h"

namespace bertft {
namespace {

// Some microseconds of arithmetic that the compiler cannot leave out.
void work_a_little() {
  volatile double sink = 1.0;
  double value = sink;
  for (int i = 0; i < 1000; ++i) value = value * 1.0000001 + 1e-9;
  sink = value;
}

}  // namespace

BackwardClock::BackwardClock(const Layout& layout, double compute_s, ComputeKind kind) : kind_(kind) {
  for (const LayoutUnit& unit : layout.units) {
    ready_s_.push_back(compute_s * static_cast<double>(unit.end) / static_cast<double>(layout.trainable_total));
  }
}

void BackwardClock::run(const std::function<void(int unit)>& mark_ready) const {
  const Timer timer;
  for (int unit = 0; unit < static_cast<int>(ready_s_.size()); ++unit) {
    const double due_s = ready_s(unit);
    if (kind_ == ComputeKind::kSleep) {
      const double left_s = due_s - timer.seconds();
      if (left_s > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(left_s));
    }
    while (timer.seconds() < due_s) work_a_little();
    mark_ready(unit);
  }
}

}  // namespace bertft
