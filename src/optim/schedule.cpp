#include "optim/schedule.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace bertft {

int64_t warmup_steps(const ScheduleOptions& options, int64_t total_steps) {
  if (options.warmup_steps) return *options.warmup_steps;
  return static_cast<int64_t>(std::ceil(options.warmup_ratio * static_cast<double>(total_steps)));
}

double linear_factor(int64_t step, int64_t warmup, int64_t total_steps) {
  check(step >= 1, "steps count from 1");
  const int64_t done = step - 1;
  if (done < warmup) return static_cast<double>(done) / static_cast<double>(std::max<int64_t>(1, warmup));
  const int64_t left = std::max<int64_t>(0, total_steps - done);
  return static_cast<double>(left) / static_cast<double>(std::max<int64_t>(1, total_steps - warmup));
}

}  // namespace bertft
