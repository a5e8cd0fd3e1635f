// The options of section `comm`. This build has a world of one, so only what names the mode is accepted.
#pragma once

#include <string>

#include "core/option_table.h"

namespace bertft {

struct CommOptions {
  std::string mode = "aiacc";
};

OptionTable comm_option_table(CommOptions& options);

}  // namespace bertft
