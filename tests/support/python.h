// The Python with the reference packages, for tests that compare with them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

namespace bertft::test {

// $BERTFT_PYTHON, or the one that scripts/test.sh installs; without it the test says SKIPPED.
inline std::optional<std::string> reference_python() {
  const char* given = std::getenv("BERTFT_PYTHON");
  const std::string python = given != nullptr ? given : ".deps/venv/bin/python";
  if (std::filesystem::exists(python)) return python;
  std::cout << "SKIPPED: no " << python << " (set BERTFT_PYTHON to a Python with tests/golden/requirements.txt)\n";
  return std::nullopt;
}

}  // namespace bertft::test
