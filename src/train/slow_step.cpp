#include "train/slow_step.h"

#include <fmt/format.h>

#include <thread>

#include "core/error.h"
#include "core/fault.h"
#include "core/log.h"

namespace bertft {

std::optional<SlowStep> SlowStep::wanted(const World& world) {
  const std::optional<WantedFault> asked = wanted_fault();
  if (!asked || asked->kind != "slow") return std::nullopt;
  const int64_t rank = asked->number("rank");
  if (rank >= world.size) {
    throw ConfigError(fmt::format("BERTFT_FAULT: rank {} of {} ranks is not there", rank, world.size));
  }
  SlowStep slow;
  slow.step_ = asked->number("step");
  slow.delay_ = std::chrono::milliseconds(asked->number("ms"));
  slow.is_due_ = rank == world.rank;
  log::warn(fmt::format("BERTFT_FAULT: rank {} sleeps for {} ms in the backward pass of step {}, as asked for", rank,
                        slow.delay_.count(), slow.step_));
  return slow;
}

void SlowStep::before_unit(int64_t step) {
  if (!is_due_ || step != step_) return;
  is_due_ = false;
  std::this_thread::sleep_for(delay_);
}

}  // namespace bertft
