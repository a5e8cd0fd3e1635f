#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"

namespace bertft {

int64_t warmup_steps(const ScheduleOptions& options, int64_t total_steps) {
  if (options.warmup_steps) return *options.warmup_steps;
  return static_cast<int64_t>(std::ceil(options.warmup_ratio * static_cast<double>(total_steps)));
}

double schedule_factor(const ScheduleOptions& options, int64_t step, int64_t warmup, int64_t total_steps,
                       double peak_rate) {
  check(step >= 1, "steps count from 1");
  const int64_t done = step - 1;
  if (done < warmup) return static_cast<double>(done) / static_cast<double>(std::max<int64_t>(1, warmup));
  if (options.type == "constant") return 1.0;
  const auto falling = static_cast<double>(std::max<int64_t>(1, total_steps - warmup));
  const int64_t left = std::max<int64_t>(0, total_steps - done);
  if (options.type == "linear") return static_cast<double>(left) / falling;
  const double progress = static_cast<double>(done - warmup) / falling;
  if (options.type == "cosine") return std::max(0.0, 0.5 * (1.0 + std::cos(std::numbers::pi * progress)));
  check(options.type == "polynomial", "a schedule is linear, cosine, constant or polynomial");
  if (peak_rate <= 0.0) return 1.0;  // nothing moves in any case
  const double end = options.end_learning_rate;
  if (left == 0) return end / peak_rate;
  return ((peak_rate - end) * std::pow(1.0 - progress, options.power) + end) / peak_rate;
}

}  // namespace bertft
