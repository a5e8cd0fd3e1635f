// What this build is and what it contains, for --version and run.json.
#pragma once

#include <string>

namespace bertft {

std::string version();           // "0.1.0"
std::string git_commit();        // abbreviated, or "unknown"
std::string libtorch_version();  // of the LibTorch the build was configured with
std::string version_report();    // several lines: versions, and what is on and off in this build

}  // namespace bertft
