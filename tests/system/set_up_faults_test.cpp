// What happens when a rank dies or stands still before the first step: while the ranks read their data, or start MPI.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <regex>

#include "tests/support/test.h"
#include "tests/system/long_job.h"
#include "tests/system/rank_checks.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

constexpr int kRanks = 3;

// Rank 0 has read the training texts, and a dev split of many seconds follows; the others wait for it.
std::string start_reading(const LongJob& job) {
  std::string rows = "label\ttext\n";
  for (int i = 0; i < 1'500'000; ++i) rows += i % 2 == 0 ? "good\ta good film\n" : "bad\tthe bad book .\n";
  job.folder().write("dev.tsv", rows);
  return "data.cache_dir=" + job.path("cache");
}

RunResult run_with_signal(const LongJob& job, const std::string& mode, int victim, int number) {
  const std::vector<std::string> more = {"--comm=" + mode,      "--set", start_reading(job),    "--set",
                                         "comm.stall_warn_s=1", "--set", "comm.stall_abort_s=3"};
  RankJob program(ranks_request(kRanks, job.arguments("run", more)), marker_of(job, "run"));
  program.wait_for("dataset cache: kept");
  program.signal_rank(victim, number);
  return program.wait(40.0);
}

TEST_CASE("a rank that is killed while ranks read their data is named by all others") {
  if (!has_mpirun()) return;
  for (const int victim : {0, 2}) {
    const LongJob job(1);
    const RunResult result = run_with_signal(job, victim == 0 ? "aiacc" : "horovod", victim, SIGKILL);
    CAPTURE(victim, result.err);
    CHECK(result.exit_code != 0);
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == victim) continue;
      const std::string who = rank == 0 ? "error: " : "error: rank " + std::to_string(rank) + ": ";
      CHECK(result.err.find(who + name_of(victim) + " is gone") != std::string::npos);
    }
  }
}

TEST_CASE("a rank that stands still while ranks read their data is named, and the job ends") {
  if (!has_mpirun()) return;
  for (const int victim : {0, 1}) {
    const LongJob job(1);
    const RunResult result = run_with_signal(job, victim == 0 ? "horovod" : "aiacc", victim, SIGSTOP);
    CAPTURE(victim, result.err);
    CHECK(result.exit_code == 4);
    CHECK(result.err.find(name_of(victim) + ", which has said nothing for ") != std::string::npos);
    CHECK(result.err.find("no progress (comm.stall_abort_s)") != std::string::npos);
  }
}

// Before MPI has brought the ranks together nobody can be asked; but a process of the same node can be seen.
TEST_CASE("a rank that is stopped before it has started MPI is named, and may go on") {
  if (!has_mpirun()) return;
  const LongJob job(1);
  RunRequest request = ranks_request({job.arguments("run"), job.arguments("run")});
  const auto second = std::find(request.arguments.rbegin(), request.arguments.rend(), binary_path());
  REQUIRE(second != request.arguments.rend());
  const std::vector<std::string> stopped = {"/bin/sh", "-c", "kill -STOP $$; exec \"$0\" \"$@\""};
  request.arguments.insert(second.base() - 1, stopped.begin(), stopped.end());
  RunningProgram program("mpirun", request);
  const std::regex warning("the ranks have not come together for .*: rank 1 \\(process ([0-9]+)\\) is stopped");
  std::smatch found;
  std::string said;
  for (int i = 0; i < 6000 && program.is_running() && found.empty(); ++i) {
    ::usleep(10'000);
    said = program.err();
    std::regex_search(said, found, warning);
  }
  CAPTURE(said);
  REQUIRE_FALSE(found.empty());
  ::kill(std::stoi(found[1]), SIGCONT);
  const RunResult result = program.wait();
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
}

}  // namespace
}  // namespace bertft::test
