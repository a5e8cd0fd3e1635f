// comm.timeline of a training run: every step and every unit of it, also when the run ends badly; bad places are
// refused before the run's folder is made.
#include <filesystem>

#include "core/files.h"
#include "tests/support/test.h"
#include "tests/support/trace_events.h"
#include "tests/system/long_job.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;

int steps_in(const Trace& trace) {
  int steps = 0;
  for (const std::string& line : trace.threads.at("steps")) steps += line.starts_with("B step ") ? 1 : 0;
  return steps;
}

int count(const Story& story, const std::string& line) {
  int found = 0;
  for (const std::string& one : story) found += one == line ? 1 : 0;
  return found;
}

TEST_CASE("a run of two ranks writes a timeline with every step and unit in both modes, and computes the same") {
  if (!has_mpirun()) return;
  const LongJob job(2);
  REQUIRE(run_ranks(2, job.arguments("plain")).exit_code == 0);
  for (const std::string mode : {"aiacc", "horovod"}) {
    CAPTURE(mode);
    const std::string place = job.path(mode + "_%r.json");
    const RunResult result = run_ranks(2, job.arguments(mode, {"--comm=" + mode, "--set", "comm.timeline=" + place}));
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(read_file(job.path(mode + ".trace.0000")) == read_file(job.path("plain.trace.0000")));
    for (const std::string rank : {"0000", "0001"}) {
      const Trace trace = parse_trace(job.path(mode + "_" + rank + ".json"));
      const int steps = steps_in(trace);
      CHECK(steps == 10);
      CHECK(count(trace.threads.at("steps"), "B wait for sums") == steps);
      CHECK(trace.tensors.size() >= 1);
      // Readiness is known of this rank, or of all ranks to the coordinator.
      const bool knows_readiness = mode == "aiacc" || rank == "0000";
      for (const auto& [unit, story] : trace.tensors) {
        CAPTURE(unit);
        CHECK(count(story, "B ALLREDUCE") == steps);
        CHECK(count(story, "B NATIVE_ALLREDUCE") == steps);
        CHECK(count(story, "B NEGOTIATE_ALLREDUCE") == (knows_readiness ? steps : 0));
      }
    }
  }
}

TEST_CASE(
    "without a place for the rank in its name rank 0 writes the timeline, and a relative name is beside the YAML") {
  if (!has_mpirun()) return;
  const LongJob job(1);
  job.folder().replace("c.yaml", "output:", "comm:\n  timeline: traces/t.json\noutput:");
  fs::create_directories(job.path("traces"));
  const RunResult result = run_ranks(2, job.arguments("run"));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(steps_in(parse_trace(job.path("traces/t.json"))) == 5);
  CHECK(std::distance(fs::directory_iterator(job.path("traces")), {}) == 1);
}

TEST_CASE("a run that ends by an error leaves a timeline that can be read") {
  if (!has_mpirun()) return;
  const LongJob job(4);
  const RunRequest request = [&] {
    RunRequest ranks = ranks_request(
        2, job.arguments("run", {"--set", "comm.nan=abort", "--set", "comm.timeline=" + job.path("t.json")}));
    ranks.environment.emplace_back("BERTFT_FAULT", "nan:rank=1,step=7,param=classifier.weight,index=1");
    return ranks;
  }();
  const RunResult result = run_program("mpirun", request);
  CAPTURE(result.err);
  CHECK(result.exit_code == 5);
  CHECK(steps_in(parse_trace(job.path("t.json"), false)) == 7);
}

TEST_CASE("a timeline that cannot be written is refused before the run begins, and check finds it") {
  if (!has_mpirun()) return;
  const LongJob job(1);
  for (const auto& [place, message] : std::vector<std::pair<std::string, std::string>>{
           {job.path("nowhere/t.json"), "comm.timeline: there is no folder"},
           {job.path(""), "is a folder; name a file"},
           {job.path("run/t.json"), "comm.timeline"},
           {job.path("train.tsv"), "comm.timeline"}}) {
    CAPTURE(place);
    const RunResult result = run_ranks(2, job.arguments("run", {"--set", "comm.timeline=" + place}));
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK_FALSE(fs::exists(job.path("run")));
  }
  CHECK(read_file(job.path("train.tsv")).starts_with("label"));
  const RunResult checked =
      run_binary({"check", "--config", job.path("c.yaml"), "--set", "threads=1", "--set",
                  "output.dir=" + job.path("run"), "--set", "comm.timeline=" + job.path("nowhere/t.json")});
  CAPTURE(checked.out);
  CHECK(checked.exit_code == 2);
  CHECK(checked.out.find("comm.timeline: there is no folder " + job.path("nowhere")) != std::string::npos);
}

TEST_CASE("one process has no timeline and says so") {
  const LongJob job(1);
  const RunResult result = job.train("run", {"--set", "comm.timeline=" + job.path("t.json")});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.find("comm.timeline: one process exchanges nothing") != std::string::npos);
  CHECK_FALSE(fs::exists(job.path("t.json")));
}

}  // namespace
}  // namespace bertft::test
