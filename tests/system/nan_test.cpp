// One value that is no number in the gradient of one rank: it is named, and all ranks do the same about it.
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/files.h"
#include "tests/support/test.h"
#include "tests/system/long_job.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kParameter = "encoder.layer.1.attention.self.key.weight";

RunResult run_with_fault(const std::string& fault, int ranks, const std::vector<std::string>& arguments) {
  RunRequest request = ranks_request(ranks, arguments);
  request.environment.emplace_back("BERTFT_FAULT", fault);
  return run_program("mpirun", request);
}

std::string fault_text(const std::string& kind, int rank, const std::string& more = "") {
  return kind + ":rank=" + std::to_string(rank) + ",step=3,index=5,param=" + kParameter + more;
}

std::vector<Json> trace_of(const LongJob& job, const std::string& run, int rank) {
  std::vector<Json> lines;
  std::istringstream text(read_file(job.path(run + ".trace.000" + std::to_string(rank))));
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  return lines;
}

void check_is_named(const RunResult& result, int rank, const std::string& counts) {
  CAPTURE(result.err);
  CHECK(result.err.find("BERTFT_FAULT: rank " + std::to_string(rank)) != std::string::npos);
  CHECK(result.err.find(std::string("step 3: the gradient is not finite: ") + kParameter + " at flat index 5 (" +
                        counts) != std::string::npos);
  CHECK(result.err.find("), rank " + std::to_string(rank) + " (") != std::string::npos);
}

void check_dropped_step(const std::string& transport) {
  const LongJob job(1);
  for (const std::string mode : {"aiacc", "horovod"}) {
    for (const int ranks : {2, 3}) {
      const std::string kind = ranks == 2 ? "nan" : "inf";
      CAPTURE(mode, ranks, kind);
      const RunResult result = run_with_fault(
          fault_text(kind, ranks - 1), ranks,
          job.arguments("run", {"--overwrite", "--comm=" + mode, "--set", "comm.transport=" + transport}));
      check_is_named(result, ranks - 1, kind == "nan" ? "1 NaN, 0 infinite" : "0 NaN, 1 infinite");
      REQUIRE(result.exit_code == 0);
      const std::vector<Json> first = trace_of(job, "run", 0);
      REQUIRE(first.size() == 5);
      CHECK(first[2]["grad_norm"].is_null());
      CHECK(first[2]["parameter_hash"] == first[1]["parameter_hash"]);  // nothing was changed
      CHECK(first[3]["parameter_hash"] != first[2]["parameter_hash"]);  // and the run went on
      for (int rank = 1; rank < ranks; ++rank) {
        const std::vector<Json> other = trace_of(job, "run", rank);
        for (size_t i = 0; i < first.size(); ++i) CHECK(other[i]["parameter_hash"] == first[i]["parameter_hash"]);
      }
    }
  }
}

TEST_CASE("a gradient with a NaN or an infinite value drops the step on all ranks in both modes") {
  if (!has_mpirun()) return;
  check_dropped_step("native");
}

TEST_CASE("a gradient with a NaN or an infinite value drops the step on all ranks over MPI, too") {
  if (!has_mpirun()) return;
  check_dropped_step("mpi");
}

TEST_CASE("comm.nan abort and three dropped steps in a row end the run with exit 5 on all ranks") {
  if (!has_mpirun()) return;
  const LongJob job(1);
  const RunResult aborted = run_with_fault(fault_text("nan", 1), 2, job.arguments("run", {"--set", "comm.nan=abort"}));
  check_is_named(aborted, 1, "1 NaN, 0 infinite");
  CHECK(aborted.exit_code == 5);
  const RunResult thrice = run_with_fault(fault_text("nan", 1, ",steps=3"), 2, job.arguments("run", {"--overwrite"}));
  CAPTURE(thrice.err);
  CHECK(thrice.exit_code == 5);
  CHECK(thrice.err.find("step 5: the gradient was not finite in 3 steps in a row") != std::string::npos);
  const RunResult twice = run_with_fault(fault_text("nan", 1, ",steps=2"), 2, job.arguments("run", {"--overwrite"}));
  CHECK(twice.exit_code == 0);
}

TEST_CASE("a single process names its own gradient, and reports without dropping when it is told so") {
  const LongJob job(1);
  RunRequest request{.arguments = job.arguments("run", {"--set", "comm.nan=report"}),
                     .environment = {{"BERTFT_FAULT", fault_text("nan", 0)}}};
  const RunResult reported = run_binary(request);
  check_is_named(reported, 0, "1 NaN, 0 infinite");
  CHECK(reported.err.find("applied all the same") != std::string::npos);
  CHECK(reported.exit_code == 5);  // the weights are no numbers then, and no model is written from them
  request.environment = {{"BERTFT_FAULT", "nan:rank=0,step=3,index=5,param=no.such.weight"}};
  request.arguments.push_back("--overwrite");
  const RunResult wrong = run_binary(request);
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("there is no trained parameter 'no.such.weight'") != std::string::npos);
}

}  // namespace
}  // namespace bertft::test
