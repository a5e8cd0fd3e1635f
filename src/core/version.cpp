#include "core/version.h"

#include <fmt/format.h>

#include "build_info.h"
#include "core/cpu_features.h"

namespace bertft {

std::string version() { return BERTFT_VERSION; }
std::string git_commit() { return BERTFT_GIT_COMMIT; }
std::string libtorch_version() { return BERTFT_LIBTORCH_VERSION; }

std::string version_report() {
  return fmt::format(
      "bert_finetune {} (commit {}, {})\n"
      "LibTorch {}, kernels {}\n",
      version(), git_commit(), BERTFT_BUILD_TYPE, libtorch_version(), instruction_set_name(instruction_set()));
}

}  // namespace bertft
