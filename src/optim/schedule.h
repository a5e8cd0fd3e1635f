// Learning-rate schedules: pure functions of the step. They match transformers' get_linear_schedule_with_warmup,
// get_cosine_..., get_constant_... and get_polynomial_decay_schedule_with_warmup.
#pragma once

#include <cstdint>

#include "optim/options.h"

namespace bertft {

// Steps of warm-up in a run of `total_steps`: warmup_steps, or warmup_ratio of the total, rounded up.
int64_t warmup_steps(const ScheduleOptions& options, int64_t total_steps);

// The factor on `peak_rate` in optimizer step `step` (from 1). It rises linearly from 0 during the warm-up (step 1 has
// factor 0 when there is any), then, with p the share of the remaining steps that is done:
//   linear      1 - p: it would reach 0 in step total_steps + 1
//   cosine      half a cosine, (1 + cos(pi p)) / 2
//   constant    1
//   polynomial  (1 - p)^power, scaled so that the rate would reach end_learning_rate in step total_steps + 1
double schedule_factor(const ScheduleOptions& options, int64_t step, int64_t warmup, int64_t total_steps,
                       double peak_rate);

}  // namespace bertft
