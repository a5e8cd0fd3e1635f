// How long MPI's own sum takes: MPI_Allreduce in place, unit by unit, as a program would that leaves everything to the
// library. Beside bench_gradient_exchange.
//
//   mpirun -np 2 bench_mpi_allreduce [MB=438] [UNIT_MIB=4] [REPEATS=15]
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/timer.h"

namespace {

float value_of(int rank, int64_t i) { return static_cast<float>((i + rank * 7) % 64); }

int number(int count, char** words, int i, int otherwise) { return i < count ? std::atoi(words[i]) : otherwise; }

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int megabytes = number(count, words, 1, 438), unit_megabytes = number(count, words, 2, 4);
  const int64_t elements = int64_t{megabytes} * 1000000 / 4, unit = int64_t{unit_megabytes} << 18;
  const int repeats = number(count, words, 3, 15);
  std::vector<float> values(static_cast<size_t>(elements));
  std::vector<double> seconds;
  for (int repeat = 0; repeat < repeats + 2; ++repeat) {
    for (int64_t i = 0; i < elements; ++i) values[static_cast<size_t>(i)] = value_of(rank, i);
    MPI_Barrier(MPI_COMM_WORLD);
    const bertft::Timer timer;
    for (int64_t begin = 0; begin < elements; begin += unit) {
      const auto length = static_cast<int>(std::min(unit, elements - begin));
      MPI_Allreduce(MPI_IN_PLACE, values.data() + begin, length, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (repeat >= 2) seconds.push_back(timer.seconds());
  }
  for (int64_t i = 0; i < elements; ++i) {
    float wanted = 0.0f;
    for (int other = 0; other < size; ++other) wanted += value_of(other, i);
    if (values[static_cast<size_t>(i)] != wanted) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::sort(seconds.begin(), seconds.end());
  if (rank == 0) {
    fmt::print("MPI_Allreduce: {} ranks, {} MB, units of {} MiB: median {:.1f} ms, {:.1f}..{:.1f}, all sums right\n",
               size, megabytes, unit_megabytes, 1e3 * seconds[seconds.size() / 2], 1e3 * seconds.front(),
               1e3 * seconds.back());
  }
  MPI_Finalize();
  return 0;
}
