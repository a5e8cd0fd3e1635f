// The one place where exceptions end: each becomes one message and an exit code (core/error.h, ExitCode).
#pragma once

#include <functional>

namespace bertft {

// Runs `body` and returns its exit code, or that of what it threw.
int run_guarded(const std::function<int()>& body);

}  // namespace bertft
