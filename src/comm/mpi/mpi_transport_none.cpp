#include "comm/mpi/mpi_transport.h"
#include "core/error.h"

namespace bertft {

void require_mpi_can_work() {
  throw ConfigError("comm.transport: mpi: this build has no MPI. Build with -DBERTFT_MPI=ON, or use native");
}

std::unique_ptr<Transport> connect_mpi_transport(Bootstrap&, const MpiOptions&) {
  require_mpi_can_work();
  return nullptr;
}

std::unique_ptr<Transport> make_mpi_transport(Bootstrap& bootstrap, const MpiOptions& options) {
  return connect_mpi_transport(bootstrap, options);
}

}  // namespace bertft
