#include "comm/mpi/mpi_transport.h"
#include "core/error.h"

namespace bertft {

std::unique_ptr<Transport> make_mpi_transport(Bootstrap&, const MpiOptions&) {
  throw ConfigError("comm.transport: mpi: this build has no MPI. Build with -DBERTFT_MPI=ON, or use native");
}

}  // namespace bertft
