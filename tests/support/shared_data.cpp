#include "tests/support/shared_data.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace bertft::test {

std::optional<std::string> shared_path(const std::string& relative) {
  const char* from_environment = std::getenv("BERTFT_SHARED");
  const std::filesystem::path root = from_environment != nullptr ? from_environment : "../shared";
  const std::filesystem::path path = root / relative;
  if (std::filesystem::exists(path)) {
    return path.string();
  }
  std::cout << "SKIPPED: no " << path.string() << " (set BERTFT_SHARED to the folder of real data)\n";
  return std::nullopt;
}

}  // namespace bertft::test
