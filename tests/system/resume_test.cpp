// A run that was cut in pieces, planned or by kill -9, ends with the same bits as one that never stopped: trace, logs,
// models, results and predictions, with dropout on and shuffled rows.
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "tests/support/test.h"
#include "tests/system/long_job.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;

// `pieces`: the steps at which the run stops on its way.
void check_pieces(const LongJob& job, const nlohmann::json& whole, const std::vector<int>& pieces) {
  const std::string run = "pieces";
  fs::remove_all(job.path(run));
  for (const int stop : pieces) {
    CAPTURE(stop);
    const RunResult result = job.train(run, {"--resume", "--set", "train.stop_at_step=" + std::to_string(stop)});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 7);
    REQUIRE_FALSE(fs::exists(job.path(run + "/results.json")));
  }
  const RunResult result = job.train(run, {"--resume"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(comparable(job, run) == whole);
}

TEST_CASE("10 steps are 5 + 5 steps, and any other sum") {
  const LongJob job(2);
  const RunResult uninterrupted = job.train("whole");
  CAPTURE(uninterrupted.err);
  REQUIRE(uninterrupted.exit_code == 0);
  const nlohmann::json whole = comparable(job, "whole");
  check_pieces(job, whole, {5});           // at the end of an epoch
  check_pieces(job, whole, {4});           // at an evaluation
  check_pieces(job, whole, {3, 6, 7, 9});  // in the middle of epochs
  check_pieces(job, whole, {1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("a resumed run of every update rule gives the same bits") {
  for (const std::string rule : {"adam", "lamb", "sgd"}) {
    CAPTURE(rule);
    const LongJob job(2);
    job.folder().append("c.yaml", "schedule:\n  type: cosine\n");
    job.folder().replace("c.yaml", "optimizer:\n", "optimizer:\n  type: " + rule + "\n");
    REQUIRE(job.train("whole").exit_code == 0);
    check_pieces(job, comparable(job, "whole"), {3, 8});
  }
}

TEST_CASE("ten kills at random points lose nothing") {
  const LongJob job(60);
  REQUIRE(job.train("whole").exit_code == 0);
  const nlohmann::json whole = comparable(job, "whole");
  uint32_t random = 12345;
  int kills = 0;
  for (int attempt = 0; attempt < 60 && kills < 10; ++attempt) {
    RunningProgram program(binary_path(), {.arguments = job.arguments("killed", {"--resume"})});
    random = random * 1664525u + 1013904223u;
    ::usleep(250'000 + random % 1'200'000);  // some before the first step, most within the run
    kills += program.is_running() ? 1 : 0;
    program.signal(SIGKILL);
    if (program.wait().exit_code == 0) fs::remove_all(job.path("killed"));  // it was done before: begin again
  }
  REQUIRE(kills == 10);
  const RunResult result = job.train("killed", {"--resume"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(comparable(job, "killed") == whole);
  CHECK_FALSE(fs::exists(job.path("killed/owner.json")));
}

TEST_CASE("damaged states are skipped with a warning, the newest whole one is taken") {
  const LongJob job(2);
  REQUIRE(job.train("whole").exit_code == 0);
  const nlohmann::json whole = comparable(job, "whole");
  REQUIRE(job.train("run", {"--set", "train.stop_at_step=7"}).exit_code == 7);
  const std::string newest = "run/checkpoints/step_00000007";
  REQUIRE(fs::exists(job.path(newest + "/DONE")));
  std::string tensors = read_file(job.path(newest + "/tensors.safetensors"));
  tensors[tensors.size() / 2] = static_cast<char>(tensors[tensors.size() / 2] ^ 1);
  job.folder().write(newest + "/tensors.safetensors", tensors);
  fs::create_directories(job.path("run/checkpoints/step_00000008.tmp"));
  const RunResult result = job.train("run", {"--resume"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.find("skipping a damaged training state") != std::string::npos);
  CHECK(result.err.find("resuming after step 6") != std::string::npos);
  CHECK(comparable(job, "run") == whole);
  CHECK_FALSE(fs::exists(job.path("run/checkpoints/step_00000008.tmp")));
}

TEST_CASE("only the newest states are kept, and the models that they refer to") {
  const LongJob job(4);
  REQUIRE(job.train("run", {"--set", "output.keep_checkpoints=3"}).exit_code == 0);
  std::vector<std::string> states;
  for (const auto& entry : fs::directory_iterator(job.path("run/checkpoints")))
    states.push_back(entry.path().filename());
  std::sort(states.begin(), states.end());
  CHECK(states == std::vector<std::string>{"step_00000015", "step_00000018", "step_00000020"});
  REQUIRE(job.train("none", {"--set", "output.keep_checkpoints=0"}).exit_code == 0);
  CHECK_FALSE(fs::exists(job.path("none/checkpoints")));
}

TEST_CASE("a run goes on from the state that --resume names") {
  const LongJob job(2);
  REQUIRE(job.train("whole").exit_code == 0);
  const nlohmann::json whole = comparable(job, "whole");
  REQUIRE(job.train("run", {"--set", "train.stop_at_step=8"}).exit_code == 7);
  const RunResult result = run_binary(job.folder().train_arguments(
      {"--trace", job.path("run.trace"), "--resume=" + job.path("run/checkpoints/step_00000006")}));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(comparable(job, "run") == whole);
  const RunResult again = job.train("run", {"--resume"});
  CHECK(again.exit_code == 0);
  CHECK(again.err.find("is complete: nothing to resume") != std::string::npos);
  const RunResult other = job.train("run", {"--resume", "--set", "optimizer.learning_rate=1.0"});
  CHECK(other.exit_code == 2);
  CHECK(other.err.find("optimizer.learning_rate") != std::string::npos);
  CHECK(job.train("run", {"--resume=" + job.path("elsewhere")}).exit_code == 2);
  CHECK(job.train("run", {"--resume", "--overwrite"}).exit_code == 2);
}

TEST_CASE("a resume with nothing there begins and says so") {
  const LongJob job(1);
  const RunResult result = job.train("run", {"--resume"});
  CHECK(result.exit_code == 0);
  CHECK(result.err.find("starting from the beginning") != std::string::npos);
}

TEST_CASE("a run goes on only as the run that it was") {
  const LongJob job(2);
  REQUIRE(job.train("run", {"--set", "train.stop_at_step=5"}).exit_code == 7);
  const auto refused = [&](const std::vector<std::string>& more, const std::vector<std::string>& words) {
    std::vector<std::string> arguments = {"--resume"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const RunResult result = job.train("run", arguments);
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    for (const std::string& word : words) CHECK(result.err.find(word) != std::string::npos);
  };
  refused({"--set", "optimizer.learning_rate=0.01", "--set", "seed=7"},
          {"optimizer.learning_rate: 0.001 in the saved run, now 0.01", "seed: 42 in the saved run, now 7"});
  refused({"--set", "train.stop_at_step=5"}, {"train.stop_at_step is 5", "after step 5"});
  const std::string train = read_file(job.path("train.tsv"));
  job.folder().write("train.tsv", train + "good\ta film\n");
  refused({}, {"the content of data.train is not that of the saved run"});
  job.folder().write("elsewhere.tsv", train);
  const RunResult moved = job.train("run", {"--resume", "--set", "data.train=" + job.path("elsewhere.tsv")});
  CAPTURE(moved.err);
  CHECK(moved.exit_code == 0);
}

}  // namespace
}  // namespace bertft::test
