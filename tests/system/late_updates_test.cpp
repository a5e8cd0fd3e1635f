// Rows of the word table that wait for their decay: a trace reads all weights after every step, so a run without one is
// where rows wait; both end with the same models, also after a resume and on two ranks.
#include <algorithm>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/test.h"
#include "tests/system/long_job.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

// Few steps read all weights.
const std::vector<std::string> kRare = {
    "--set", "eval.every=13", "--set", "output.checkpoint_every=11", "--set", "optimizer.weight_decay=0.2"};

std::vector<std::string> arguments(const LongJob& job, const std::string& run, std::vector<std::string> more,
                                   bool has_trace) {
  more.insert(more.begin(), kRare.begin(), kRare.end());
  std::vector<std::string> all = job.arguments(run, more);
  if (has_trace) return all;
  const auto trace = std::find(all.begin(), all.end(), "--trace");
  all.erase(trace, trace + 2);
  return all;
}

std::string models_of(const LongJob& job, const std::string& run) {
  return read_file(job.path(run + "/best/model.safetensors")) + read_file(job.path(run + "/last/model.safetensors"));
}

TEST_CASE("word rows that wait for their decay end as those that do not") {
  const LongJob job(4);
  REQUIRE(run_binary(arguments(job, "traced", {}, true)).exit_code == 0);
  REQUIRE(run_binary(arguments(job, "plain", {}, false)).exit_code == 0);
  CHECK(models_of(job, "plain") == models_of(job, "traced"));
  REQUIRE(run_binary(arguments(job, "pieces", {"--set", "train.stop_at_step=9"}, false)).exit_code == 7);
  REQUIRE(run_binary(arguments(job, "pieces", {"--resume"}, false)).exit_code == 0);
  CHECK(models_of(job, "pieces") == models_of(job, "traced"));
}

TEST_CASE("word rows wait on two ranks alike") {
  if (!has_mpirun()) return;
  const LongJob job(4);
  REQUIRE(run_ranks(2, arguments(job, "traced", {}, true)).exit_code == 0);
  for (const std::string mode : {"aiacc", "horovod"}) {
    CAPTURE(mode);
    REQUIRE(run_ranks(2, arguments(job, mode, {"--comm=" + mode}, false)).exit_code == 0);
    CHECK(models_of(job, mode) == models_of(job, "traced"));
  }
}

}  // namespace
}  // namespace bertft::test
