// BERTFT_FAULT=slow:rank=R,step=S,ms=T: a rank that is late, to see what the others say and do.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "comm/world.h"

namespace bertft {

class SlowStep {
 public:
  // The delay that is asked for, which is announced; nothing when there is none. Throws ConfigError when the rank is
  // not there.
  static std::optional<SlowStep> wanted(const World& world);

  // To be called in the backward pass before a unit of gradients is ready: sleeps, on the rank and in the step that
  // were asked for, once.
  void before_unit(int64_t step);

 private:
  int64_t step_ = 0;
  std::chrono::milliseconds delay_{0};
  bool is_due_ = false;
};

}  // namespace bertft
