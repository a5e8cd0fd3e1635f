// An MPI that ends rank 0 by abort() in the middle of a transfer, as some do when they miss a peer: once there is a
// file of the name in BRITTLE_MPI_FILE. Preloaded before the real one.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const char* file = std::getenv("BRITTLE_MPI_FILE");
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (file != nullptr && rank != nullptr && std::strcmp(rank, "0") == 0 && ::access(file, F_OK) == 0) {
    std::fputs("brittle MPI: a peer does not answer\n", stderr);
    std::abort();
  }
  return PMPI_Testall(count, requests, flag, statuses);
}
