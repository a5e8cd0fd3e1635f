// Finds the real data that lies outside the repository. Tests that need it return early, and ctest reports a skip.
#pragma once

#include <optional>
#include <string>

namespace bertft::test {

// The path of `relative` below $BERTFT_SHARED (default: ../shared beside the repository).
// Prints "SKIPPED: reason" and returns nothing when it is not there.
std::optional<std::string> shared_path(const std::string& relative);

}  // namespace bertft::test
