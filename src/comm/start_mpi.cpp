#include <mpi.h>

#include <array>
#include <string>

#include "comm/launcher.h"
#include "comm/local_bootstrap.h"
#include "comm/mpi/mpi_bootstrap.h"
#include "comm/start.h"

namespace bertft {

std::unique_ptr<Bootstrap> start_bootstrap() {
  const LaunchedWorld world = launched_world();
  if (world.size == 1) return std::make_unique<LocalBootstrap>();
  return MpiBootstrap::start(world.size);
}

std::string mpi_description() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);  // may be asked before MPI is started
  const std::string version(text.data(), static_cast<size_t>(length));
  return version.substr(0, version.find(','));
}

}  // namespace bertft
