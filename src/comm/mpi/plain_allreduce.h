// The MPI library's own sum over all ranks, for comparison with the transports of this project. No type of MPI appears
// here.
#pragma once

#include <cstdint>

namespace bertft {

// Whether this build has MPI.
bool has_plain_allreduce();

// Collective: `values` becomes the sum over all ranks, by MPI_Allreduce in place; more than 2^30 elements take several
// calls. REQUIRES has_plain_allreduce() and MPI to be started (comm/start.h, as one of several processes). Throws
// CommError when MPI fails.
void plain_allreduce(float* values, int64_t elements);

}  // namespace bertft
