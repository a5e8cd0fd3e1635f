// Evaluations every N steps, and a run that ends when they bring nothing any more, also when it was cut before.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/test.h"
#include "tests/system/long_job.h"

namespace bertft::test {
namespace {

using Json = nlohmann::json;

// The steps at which dev was scored.
std::vector<int> evaluated_steps(const LongJob& job, const std::string& run) {
  std::vector<int> steps;
  std::istringstream lines(read_file(job.path(run + "/metrics.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (json.contains("split") && json["split"] == "dev") steps.push_back(json["step"]);
  }
  return steps;
}

TEST_CASE("dev is scored every N steps, or at the end of each epoch, and always at the end") {
  const LongJob job(2);
  REQUIRE(job.train("four").exit_code == 0);
  CHECK(evaluated_steps(job, "four") == std::vector<int>{4, 8, 10});
  REQUIRE(job.train("epochs", {"--set", "eval.every=epoch"}).exit_code == 0);
  CHECK(evaluated_steps(job, "epochs") == std::vector<int>{5, 10});
}

TEST_CASE("a run without gains ends after patience evaluations, with the best model kept") {
  const LongJob job(4);
  const std::vector<std::string> settings = {"--set", "optimizer.learning_rate=0",     "--set", "eval.every=1",
                                             "--set", "eval.early_stopping.patience=2"};
  const RunResult result = job.train("run", settings);
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(evaluated_steps(job, "run") == std::vector<int>{1, 2, 3});  // the first is a gain, the next two are none
  CHECK(result.err.find("early stopping after step 3") != std::string::npos);
  const Json results = Json::parse(read_file(job.path("run/results.json")));
  CHECK(results["steps"] == 3);
  CHECK(results["best_step"] == 1);

  std::vector<std::string> pieces = settings;
  pieces.insert(pieces.end(), {"--resume", "--set", "train.stop_at_step=2"});
  REQUIRE(job.train("pieces", pieces).exit_code == 7);
  std::vector<std::string> rest = settings;
  rest.push_back("--resume");
  REQUIRE(job.train("pieces", rest).exit_code == 0);
  CHECK(comparable(job, "pieces") == comparable(job, "run"));
}

TEST_CASE("a gain has to exceed min_delta") {
  const LongJob job(4);
  const RunResult result = job.train("run", {"--set", "eval.every=1", "--set", "eval.early_stopping.patience=3",
                                             "--set", "eval.early_stopping.min_delta=10"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(evaluated_steps(job, "run") == std::vector<int>{1, 2, 3, 4});
}

}  // namespace
}  // namespace bertft::test
