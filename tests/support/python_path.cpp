#include "tests/support/python_path.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace bertft::test {

std::optional<std::string> python_path() {
  const char* given = std::getenv("BERTFT_PYTHON");
  const std::string python = given != nullptr ? given : ".deps/venv/bin/python";
  if (std::filesystem::exists(python)) return python;
  std::cout << "SKIPPED: no " << python << " (set BERTFT_PYTHON to a Python that has torch and transformers)\n";
  return std::nullopt;
}

}  // namespace bertft::test
