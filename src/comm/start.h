// Finds out how this process was started and opens what joins it with the others.
#pragma once

#include <memory>

#include "comm/bootstrap.h"

namespace bertft {

// A world of one for a process that was started alone, which starts no MPI; else that of MPI. Throws ConfigError when a
// launcher started several processes and this build has no MPI, and CommError when MPI does not find them.
std::unique_ptr<Bootstrap> start_bootstrap();

// Whether this build can be several processes.
bool has_mpi();

// "MPI 3.1 (Open MPI v4.1.4, ...)", or that this build has none; for --version.
std::string mpi_description();

}  // namespace bertft
