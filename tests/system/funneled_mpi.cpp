// An MPI that allows calls from the main thread only, whatever it is asked for: preloaded before the real one.
#include <mpi.h>

#include <algorithm>

extern "C" int MPI_Init_thread(int* count, char*** words, int required, int* provided) {
  return PMPI_Init_thread(count, words, std::min<int>(required, MPI_THREAD_FUNNELED), provided);
}

extern "C" int MPI_Query_thread(int* provided) {
  const int code = PMPI_Query_thread(provided);
  *provided = std::min<int>(*provided, MPI_THREAD_FUNNELED);
  return code;
}
