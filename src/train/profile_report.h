// What `train --profile` says: a table of the parts of a step, a table of its operations, and a trace that
// chrome://tracing and Perfetto open.
#pragma once

#include <cstdint>
#include <string>

#include "core/profile.h"

namespace bertft {

constexpr int64_t kProfileWarmUpSteps = 3;  // left out: first use of memory and caches
constexpr int64_t kProfileTracedSteps = 20;

// Milliseconds per step and shares of a step; operations with their calls, GFLOP/s and GB/s. Every root is a step.
std::string profile_text(const Profile& profile);

// Catapult's Trace Event Format, a JSON array of complete events.
std::string profile_trace(const Profile& profile);

}  // namespace bertft
