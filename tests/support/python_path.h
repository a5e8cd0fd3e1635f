// Finds a Python that has torch and transformers. Tests that need it return early, and ctest reports a skip.
#pragma once

#include <optional>
#include <string>

namespace bertft::test {

// $BERTFT_PYTHON, or the one that scripts/test.sh installs. Prints "SKIPPED: reason" and returns nothing when it is not
// there.
std::optional<std::string> python_path();

}  // namespace bertft::test
