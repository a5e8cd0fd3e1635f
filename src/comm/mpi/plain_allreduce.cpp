#include "comm/mpi/plain_allreduce.h"

#include <mpi.h>

#include <algorithm>

#include "comm/mpi/mpi_calls.h"

namespace bertft {

bool has_plain_allreduce() { return true; }

void plain_allreduce(float* values, int64_t elements) {
  constexpr int64_t kMost = int64_t{1} << 30;  // MPI counts in int
  for (int64_t begin = 0; begin < elements; begin += kMost) {
    const int count = static_cast<int>(std::min(kMost, elements - begin));
    mpi::require(MPI_Allreduce(MPI_IN_PLACE, values + begin, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD),
                 "MPI_Allreduce");
  }
}

}  // namespace bertft
