// Runs the executable as several ranks under mpirun: how system tests see a job of many processes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/run_binary.h"

namespace bertft::test {

// Whether there is an mpirun. Prints "SKIPPED: reason" when there is none.
bool has_mpirun();

// The command line of mpirun for `ranks` processes with the same arguments; it may have more ranks than cores.
RunRequest ranks_request(int ranks, const std::vector<std::string>& arguments);
// One process for each list of arguments.
RunRequest ranks_request(const std::vector<std::vector<std::string>>& arguments_of_ranks);

// A job of several ranks that runs beside the test. At the end of its scope nothing of it is left.
class RankJob {
 public:
  // `marker`: an argument that no other job on this machine has.
  RankJob(const RunRequest& request, std::string marker);
  ~RankJob();

  // Waits until the job has said `text` on the console, for at most a minute; fails the test when it does not.
  void wait_for(const std::string& text);
  void signal_rank(int rank, int number) const;
  void signal_launcher(int number) const { program_.signal(number); }
  bool is_running() { return program_.is_running(); }
  // Fails the test when the job takes longer than `limit_s`.
  RunResult wait(double limit_s = 60.0);

 private:
  std::vector<pid_t> processes(const std::string& variable) const;

  RunningProgram program_;
  const std::string marker_;
};

// Libraries to preload: with the first MPI gives MPI_THREAD_FUNNELED at most, with the second it ends rank 0 by abort()
// in the middle of a transfer once there is a file of the name in BRITTLE_MPI_FILE.
std::string funneled_mpi();
std::string brittle_mpi();

RunResult run_ranks(int ranks, const std::vector<std::string>& arguments);

}  // namespace bertft::test
