#include "comm/launcher.h"
#include "comm/local_bootstrap.h"
#include "comm/mpi/mpi_bootstrap.h"
#include "comm/mpi/mpi_calls.h"
#include "comm/start.h"

namespace bertft {

std::unique_ptr<Bootstrap> start_bootstrap() {
  const LaunchedWorld world = launched_world();
  if (world.size == 1) return std::make_unique<LocalBootstrap>();
  return MpiBootstrap::start(world.size);
}

bool has_mpi() { return true; }

std::string mpi_description() { return mpi::library_version(); }

}  // namespace bertft
