#include <fmt/format.h>

#include <string>

#include "comm/launcher.h"
#include "comm/local_bootstrap.h"
#include "comm/start.h"
#include "core/error.h"

namespace bertft {

std::unique_ptr<Bootstrap> start_bootstrap() {
  const LaunchedWorld world = launched_world();
  if (world.size == 1) return std::make_unique<LocalBootstrap>();
  throw ConfigError(fmt::format(
      "started as one of {} processes ({}={}), but this build has no MPI. Build with -DBERTFT_MPI=ON, or start a "
      "single process",
      world.size, world.variable, world.size));
}

bool has_mpi() { return false; }

std::string mpi_description() { return "none"; }

}  // namespace bertft
