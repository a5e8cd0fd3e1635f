// Variables by which users of Horovod and of AIACC (Perseus) set what they set here by keys: they are defaults of the
// matching keys, so that a job script that exports them means the same.
#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"

namespace bertft {

// Sets each key that nothing has set yet from its variable; the origin is then "NAME=value". Faults of values are added
// to `faults`. Returns what a user should know: variables of these families that are set and change nothing.
std::vector<std::string> adopt_environment(RunConfig& config, std::vector<std::string>& faults);

// The same; throws ConfigError for a value that cannot be used.
std::vector<std::string> adopt_environment(RunConfig& config);

// "comm.wire fp16 (PERSEUS_ALLREDUCE_DTYPE=0), ...": the keys that a variable has set; "" for none.
std::string environment_text(RunConfig config);

}  // namespace bertft
