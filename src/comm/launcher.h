// Whether this process was started as one of several by a launcher (mpirun, srun, torchrun, Hydra).
#pragma once

#include <string>

namespace bertft {

struct LaunchedWorld {
  int size = 1;
  std::string variable;  // the environment variable that says so; "" when started alone
};

LaunchedWorld launched_world();

// Whether a launcher started this process, perhaps as the only one.
bool is_launched();

// Throws ConfigError when there is more than one process, for a command that would only do the same thing several
// times.
void refuse_more_than_one_process(const std::string& command);

}  // namespace bertft
