#include "comm/mpi/mpi_bootstrap.h"

#include <fmt/format.h>
#include <mpi.h>

#include <climits>
#include <numeric>

#include "comm/mpi/mpi_calls.h"
#include "core/error.h"

namespace bertft {

using mpi::require;

std::unique_ptr<MpiBootstrap> MpiBootstrap::start(int expected_size) {
  int provided = MPI_THREAD_SINGLE;
  std::unique_ptr<MpiBootstrap> bootstrap(new MpiBootstrap());
  {
    const StartWatch::Call call(bootstrap->watch_, "MPI_Init_thread", StartWatch::Kind::kStart);
    require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  }
  require(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  require(MPI_Comm_rank(MPI_COMM_WORLD, &bootstrap->rank_), "MPI_Comm_rank");
  require(MPI_Comm_size(MPI_COMM_WORLD, &bootstrap->size_), "MPI_Comm_size");
  if (bootstrap->size_ != expected_size) {
    throw CommError(fmt::format(
        "started as one of {} processes, but MPI finds {}: the launcher does not know this MPI. Start with the mpirun "
        "of the MPI that this program was built with, or with srun --mpi=pmix",
        expected_size, bootstrap->size_));
  }
  // The bootstrap calls MPI from the main thread alone; whoever needs more asks for it (comm/mpi/mpi_transport).
  mpi::require_thread_level(provided, MPI_THREAD_FUNNELED, "a process with several threads",
                            "Use a build of MPI with support for threads");
  return bootstrap;
}

std::vector<std::string> MpiBootstrap::all_gather(const std::string& mine) {
  check(mine.size() < INT_MAX, "texts of a bootstrap are small");
  const StartWatch::Call call(watch_, "MPI_Allgather", kind_);
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<size_t>(size_));
  require(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD), "MPI_Allgather");
  std::vector<int> offsets(lengths.size(), 0);
  const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  check(total < INT_MAX, "texts of a bootstrap are small");
  std::partial_sum(lengths.begin(), lengths.end() - 1, offsets.begin() + 1);
  std::string all(static_cast<size_t>(total), '\0');
  require(MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                         MPI_COMM_WORLD),
          "MPI_Allgatherv");
  std::vector<std::string> texts;
  for (size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(all.substr(static_cast<size_t>(offsets[i]), static_cast<size_t>(lengths[i])));
  }
  return texts;
}

void MpiBootstrap::barrier() {
  const StartWatch::Call call(watch_, "MPI_Barrier", kind_);
  require(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
}

void MpiBootstrap::expect_short_waits(const StallSettings& limits) {
  watch_.set_limits(limits);
  kind_ = StartWatch::Kind::kShort;
}

void MpiBootstrap::finish() {
  const StartWatch::Call call(watch_, "MPI_Finalize", StartWatch::Kind::kLong);
  require(MPI_Finalize(), "MPI_Finalize");
}

}  // namespace bertft
