// A rank that is late (BERTFT_FAULT=slow): the others say whom they wait for, and the job goes on to the same bits or
// ends, as the settings want.
#include "core/files.h"
#include "tests/support/test.h"
#include "tests/system/long_job.h"
#include "tests/system/rank_checks.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

constexpr int kRanks = 3;

RunResult run_with_late_rank(const LongJob& job, const std::string& run, const std::string& fault,
                             const std::vector<std::string>& more) {
  RunRequest request = ranks_request(kRanks, job.arguments(run, more));
  request.environment.emplace_back("BERTFT_FAULT", fault);
  return run_program("mpirun", request);
}

// Each warning also has the place of the rank that gives it, and where the late one is.
void check_late_rank_is_named(const LongJob& job, const std::string& mode) {
  CAPTURE(mode);
  const std::vector<std::string> more = {"--overwrite", "--comm=" + mode, "--set", "comm.stall_warn_s=1"};
  REQUIRE(run_ranks(kRanks, job.arguments("whole", more)).exit_code == 0);
  const RunResult result = run_with_late_rank(job, "run", "slow:rank=1,step=7,ms=6000", more);
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(count_of(result.err, "BERTFT_FAULT: rank 1 sleeps for 6000 ms in the backward pass of step 7") == 1);
  const std::string late = name_of(1) + ", which is computing gradients in step 7 and has not got on";
  CHECK(count_of(result.err, "warning: step 7: no progress for ") >= 1);
  for (const int rank : {0, 2}) {
    const std::string log = read_file(log_path(job, "run", rank));
    CAPTURE(rank, log);
    CHECK(count_of(log, " W step 7: no progress for ") >= 2);
    CHECK(count_of(log, late) >= 1);
    CHECK(count_of(log, ". Here: ") == count_of(log, ": no progress for "));
    CHECK(count_of(log, " E ") == 0);
  }
  CHECK(count_of(read_file(log_path(job, "run", 1)), "no progress") == 0);
  check_same_run(job, "run", "whole", kRanks);
}

TEST_CASE("a late rank is named with its place, and the run goes on to the same bits") {
  if (!has_mpirun()) return;
  const LongJob job(4);
  check_late_rank_is_named(job, "aiacc");
  check_late_rank_is_named(job, "horovod");
}

TEST_CASE("a rank that is late for longer than comm.stall_abort_s ends the job, and every log ends with its name") {
  if (!has_mpirun()) return;
  const LongJob job(4);
  for (const std::string mode : {"aiacc", "horovod"}) {
    CAPTURE(mode);
    const std::vector<std::string> limits = {"--overwrite",         "--comm=" + mode, "--set",
                                             "comm.stall_warn_s=1", "--set",          "comm.stall_abort_s=3"};
    const RunResult result = run_with_late_rank(job, "run", "slow:rank=2,step=6,ms=600000", limits);
    CAPTURE(result.err);
    CHECK(result.exit_code == 4);
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::string last = last_line(read_file(log_path(job, "run", rank)));
      CAPTURE(rank, last);
      CHECK(last.find(" E ") != std::string::npos);
      CHECK(last.find("step 6: no progress (comm.stall_abort_s) for ") != std::string::npos);
      CHECK(last.find(name_of(2) + ", which ") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace bertft::test
