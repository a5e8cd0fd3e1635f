// The rules between options, beyond what each option's table says of it alone.
#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"

namespace bertft {

// Every rule that is broken, one message each, naming keys, values and where they were set.
std::vector<std::string> rule_faults(const RunConfig& config);

// Throws ConfigError with all of them.
void check_run_config(const RunConfig& config);

// One message of several faults: a single one as it is, more of them as a list under `headline`.
std::string join_faults(const std::string& headline, const std::vector<std::string>& faults);

}  // namespace bertft
