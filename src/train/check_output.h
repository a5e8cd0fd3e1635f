// Whether a run can write what it will write: the folder, its permissions, and the space on its disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/run_config.h"

namespace bertft {

// Faults of output.dir, of the disk under it, and of comm.timeline; nothing is written. A folder that holds a run is
// none: it can be resumed or overwritten. `parameters` 0: not known, the space is not looked at.
std::vector<std::string> output_faults(const RunConfig& config, int64_t parameters);

// Bytes that the models and training states of a run take at most at one time.
int64_t output_bytes(const RunConfig& config, int64_t parameters);

}  // namespace bertft
