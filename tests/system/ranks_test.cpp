// Data-parallel runs through the executable: any number of ranks and both modes train the same model as one process.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/files.h"
#include "tests/support/test.h"
#include "tests/support/tolerances.h"
#include "tests/system/golden_run.h"
#include "tests/system/long_job.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

using Json = nlohmann::json;

std::vector<Json> lines_of(const std::string& path) {
  std::vector<Json> lines;
  std::istringstream text(read_file(path));
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  return lines;
}

std::vector<std::vector<Json>> traces_of(const LongJob& job, const std::string& run, int ranks) {
  std::vector<std::vector<Json>> traces;
  for (int rank = 0; rank < ranks; ++rank) {
    traces.push_back(lines_of(job.path(run + ".trace.000" + std::to_string(rank))));
  }
  return traces;
}

// Every rank has the weights, loss and norm of rank 0 after every step, and each row of the batch is at one rank.
void check_ranks_agree(const std::vector<std::vector<Json>>& traces, const std::vector<Json>& single) {
  for (size_t i = 0; i < single.size(); ++i) {
    std::vector<int64_t> rows;
    for (const std::vector<Json>& trace : traces) {
      REQUIRE(trace.size() == single.size());
      for (const char* key : {"step", "loss", "grad_norm", "lr", "parameter_hash"}) {
        INFO(key);
        REQUIRE(trace[i][key] == traces[0][i][key]);
      }
      for (const Json& row : trace[i]["rows"]) rows.push_back(row);
    }
    std::vector<int64_t> expected = single[i]["rows"];
    std::sort(rows.begin(), rows.end());
    std::sort(expected.begin(), expected.end());
    REQUIRE(rows == expected);
  }
}

// Trains over `transport` in both modes; all have the losses of `single` and the same parameters. Returns their hash.
Json check_training(const LongJob& job, const std::vector<Json>& single, const std::string& transport, int ranks) {
  Json hash;
  for (const std::string mode : {"aiacc", "horovod"}) {
    CAPTURE(transport, ranks, mode);
    const std::string run = mode + std::to_string(ranks);
    const std::vector<std::string> more = {"--overwrite", "--comm=" + mode, "--set", "comm.transport=" + transport};
    const RunResult result = run_ranks(ranks, job.arguments(run, more));
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const auto traces = traces_of(job, run, ranks);
    check_ranks_agree(traces, single);
    for (size_t i = 0; i < single.size(); ++i) {
      REQUIRE(std::abs(traces[0][i]["loss"].get<double>() - single[i]["loss"].get<double>()) <= kStepLoss);
      const double norm = single[i]["grad_norm"];
      REQUIRE(std::abs(traces[0][i]["grad_norm"].get<double>() - norm) <= kStepLoss * norm);
    }
    if (mode == "horovod") CHECK(traces[0].back()["parameter_hash"] == hash);
    hash = traces[0].back()["parameter_hash"];
    const Json comm = Json::parse(read_file(job.path(run + "/results.json")))["comm"];
    CHECK((comm["copied_bytes"] > 0) == (mode == "horovod"));
    CHECK(std::filesystem::exists(job.path(run + "/logs/rank_000" + std::to_string(ranks - 1) + ".log")));
  }
  return hash;
}

// Batches of 4 rows and a last one of 2: with 3 and 4 ranks some have no row at all.
TEST_CASE("several ranks train the same model in both modes and over both transports as one process") {
  if (!has_mpirun()) return;
  const LongJob job(4);
  REQUIRE(job.train("single").exit_code == 0);
  const std::vector<Json> single = lines_of(job.path("single.trace"));
  REQUIRE(single.size() == 20);
  for (const int ranks : {2, 3, 4}) {
    const Json native = check_training(job, single, "native", ranks);
    CHECK(check_training(job, single, "mpi", ranks) == native);
  }
}

TEST_CASE("over MPI 16-bit wires and several lanes leave all ranks with the same parameters") {
  if (!has_mpirun()) return;
  const LongJob job(2);
  REQUIRE(job.train("single").exit_code == 0);
  const std::vector<Json> single = lines_of(job.path("single.trace"));
  for (const std::string wire : {"fp16", "bf16", "mixed"}) {
    CAPTURE(wire);
    const RunResult result = run_ranks(3, job.arguments("run", {"--overwrite", "--set", "comm.transport=mpi", "--set",
                                                                "comm.wire=" + wire, "--set", "comm.lanes=3"}));
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.find("mpi: 3 rank(s) on 1 node(s), ") != std::string::npos);
    const auto traces = traces_of(job, "run", 3);
    check_ranks_agree(traces, single);
    // What the wire rounds off shows, and is small.
    CHECK(traces[0].back()["parameter_hash"] != single.back()["parameter_hash"]);
    CHECK(std::abs(traces[0].back()["loss"].get<double>() - single.back()["loss"].get<double>()) < 0.05);
  }
}

TEST_CASE("the transport mpi is for processes that a launcher starts, of which one will do") {
  if (!has_mpirun()) return;
  const LongJob job(1);
  const std::vector<std::string> over_mpi = {"--set", "comm.transport=mpi"};
  const RunResult alone = job.train("run", over_mpi);
  CAPTURE(alone.err);
  CHECK(alone.exit_code == 2);
  CHECK(alone.err.find("comm.transport: mpi needs processes that mpirun or srun starts") != std::string::npos);
  REQUIRE(job.train("single").exit_code == 0);
  const RunResult one = run_ranks(1, job.arguments("run", over_mpi));
  CAPTURE(one.err);
  REQUIRE(one.exit_code == 0);
  CHECK(read_file(job.path("run.trace")) == read_file(job.path("single.trace")));
}

TEST_CASE("an MPI that allows calls from one thread only is refused for mpi, and enough for native") {
  if (!has_mpirun()) return;
  const LongJob job(1);
  const auto run = [&](const std::string& transport) {
    RunRequest request =
        ranks_request(2, job.arguments("run", {"--overwrite", "--set", "comm.transport=" + transport}));
    request.environment.emplace_back("LD_PRELOAD", funneled_mpi());
    return run_program("mpirun", request);
  };
  const RunResult mpi = run("mpi");
  CAPTURE(mpi.err);
  CHECK(mpi.exit_code == 4);
  CHECK(mpi.err.find("comm.transport: mpi needs MPI_THREAD_MULTIPLE, and this MPI gives MPI_THREAD_FUNNELED") !=
        std::string::npos);
  CHECK(mpi.err.find("comm.transport: native") != std::string::npos);
  const RunResult native = run("native");
  CAPTURE(native.err);
  CHECK(native.exit_code == 0);
}

TEST_CASE("scores and predictions of several ranks are those of one process with the same model") {
  if (!has_mpirun()) return;
  const LongJob job(2);
  const RunResult result = run_ranks(3, job.arguments("run", {"--set", "eval.batch_tokens=12"}));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const Json results = Json::parse(read_file(job.path("run/results.json")));
  const RunResult scored = run_binary({"evaluate", "--model", job.path("run/best"), "--data", job.path("test.tsv"),
                                       "--output", job.path("scored"), "--threads", "1"});
  CAPTURE(scored.err);
  REQUIRE(scored.exit_code == 0);
  const Json alone = Json::parse(read_file(job.path("scored/results.json")));
  for (const auto& [name, value] : alone["metrics"].items()) {
    CAPTURE(name);
    if (value.is_number()) {
      CHECK(std::abs(results["test"]["metrics"][name].get<double>() - value.get<double>()) <= kProbability);
    } else {
      CHECK(results["test"]["metrics"][name] == value);
    }
  }
  CHECK(lines_of(job.path("run/metrics.jsonl")).size() > 10);
}

TEST_CASE("the order of static negotiation, several lanes and a run with and without them give the same bits") {
  if (!has_mpirun()) return;
  const LongJob job(3);
  REQUIRE(run_ranks(2, job.arguments("plain")).exit_code == 0);
  const auto plain = traces_of(job, "plain", 2);
  for (const std::vector<std::string>& changes : {std::vector<std::string>{"--set", "comm.negotiate=static"},
                                                  {"--set", "comm.lanes=3"},
                                                  {"--set", "comm.unit_mb=0.01"},
                                                  {"--comm=horovod", "--set", "comm.horovod.cache_capacity=0"},
                                                  {"--comm=horovod", "--set", "comm.horovod.fusion_mb=0"}}) {
    CAPTURE(changes);
    const RunResult result = run_ranks(2, job.arguments("other", joined({"--overwrite"}, changes)));
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(traces_of(job, "other", 2) == plain);
  }
}

TEST_CASE("a run of several ranks goes on to the same bits, and with another number of ranks up to summation") {
  if (!has_mpirun()) return;
  const LongJob job(2);
  REQUIRE(run_ranks(2, job.arguments("whole")).exit_code == 0);
  for (const std::string stop : {"3", "4", "8"}) {
    CAPTURE(stop);
    const RunResult cut = run_ranks(2, job.arguments("run", {"--overwrite", "--set", "train.stop_at_step=" + stop}));
    CAPTURE(cut.err);
    REQUIRE(cut.exit_code == 7);
    const RunResult rest = run_ranks(2, job.arguments("run", {"--resume"}));
    CAPTURE(rest.err);
    REQUIRE(rest.exit_code == 0);
    CHECK(traces_of(job, "run", 2) == traces_of(job, "whole", 2));
    CHECK(read_file(job.path("run/best/model.safetensors")) == read_file(job.path("whole/best/model.safetensors")));
    CHECK(read_file(job.path("run/predictions/dev.tsv")) == read_file(job.path("whole/predictions/dev.tsv")));
  }
  REQUIRE(run_ranks(2, job.arguments("run", {"--overwrite", "--set", "train.stop_at_step=5"})).exit_code == 7);
  const RunResult alone = job.train("run", {"--resume"});
  CAPTURE(alone.err);
  REQUIRE(alone.exit_code == 0);
  CHECK(alone.err.find("world was 2 before and is 1 now") != std::string::npos);
}

TEST_CASE("ranks with different configurations or data are refused at start with the first difference") {
  if (!has_mpirun()) return;
  const LongJob job(1);
  const RunResult seeds =
      run_program("mpirun", ranks_request({job.arguments("run"), job.arguments("run", {"--set", "seed=7"})}));
  CAPTURE(seeds.err);
  CHECK(seeds.exit_code == 4);
  CHECK(seeds.err.find("seed differs") != std::string::npos);
  CHECK(seeds.err.find("rank 1") != std::string::npos);
  job.folder().write("other.tsv", read_file(job.path("train.tsv")) + "good\tone more\n");
  const RunResult data = run_program(
      "mpirun",
      ranks_request({job.arguments("run"), job.arguments("run", {"--set", "data.train=" + job.path("other.tsv")})}));
  CAPTURE(data.err);
  CHECK(data.exit_code == 4);
  CHECK(data.err.find("the content of data.train differs") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(job.path("run/run.json")));
}

TEST_CASE("a fault that all ranks find is told once, and one that a single rank finds with its name") {
  if (!has_mpirun()) return;
  const LongJob job(1);
  const RunResult all = run_ranks(3, job.arguments("run", {"--set", "train.epoch=3"}));
  CAPTURE(all.err);
  CHECK(all.exit_code == 2);
  CHECK(all.err.find("unknown key") == all.err.rfind("unknown key"));
  const RunResult one = run_program(
      "mpirun",
      ranks_request({job.arguments("run"), job.arguments("run", {"--set", "data.train=" + job.path("none.tsv")})}));
  CAPTURE(one.err);
  CHECK(one.exit_code == 3);
  CHECK(one.err.find("error: rank 1 (") != std::string::npos);
  const RunResult inspect = run_ranks(2, {"inspect", "x"});
  CHECK(inspect.exit_code == 2);
  CHECK(inspect.err.find("`inspect` runs as a single process") != std::string::npos);
}

}  // namespace
}  // namespace bertft::test
