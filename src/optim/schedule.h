// Learning-rate schedules: pure functions of the step. They match transformers' get_linear_schedule_with_warmup.
#pragma once

#include <cstdint>

#include "optim/options.h"

namespace bertft {

// Steps of warm-up in a run of `total_steps`: warmup_steps, or warmup_ratio of the total, rounded up.
int64_t warmup_steps(const ScheduleOptions& options, int64_t total_steps);

// The factor on the peak rate in optimizer step `step` (from 1): rises linearly from 0 (step 1 has factor 0 when there
// is any warm-up), then falls linearly towards 0, which it would reach in step total_steps + 1.
double linear_factor(int64_t step, int64_t warmup, int64_t total_steps);

}  // namespace bertft
