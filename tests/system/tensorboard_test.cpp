// TensorBoard's own reader finds in the event files what metrics.jsonl says, each step once, also when the run was cut.
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "core/files.h"
#include "tests/support/python_path.h"
#include "tests/support/test.h"
#include "tests/system/long_job.h"

namespace bertft::test {
namespace {

using Json = nlohmann::json;

Json read_events(const std::string& python, const std::string& folder) {
  const RunResult result = run_program(python, {.arguments = {"tests/golden/read_events.py", folder}});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return Json::parse(result.out);
}

// Tag -> [[step, value], ...] as metrics.jsonl has them.
std::map<std::string, std::vector<std::pair<int64_t, double>>> logged_scalars(const std::string& path) {
  const std::map<std::string, std::string> tags = {{"loss", "train/loss"},
                                                   {"loss_window", "train/loss_window"},
                                                   {"lr", "train/learning_rate"},
                                                   {"grad_norm", "train/grad_norm"},
                                                   {"samples_per_s", "speed/samples_per_s"}};
  std::map<std::string, std::vector<std::pair<int64_t, double>>> scalars;
  std::istringstream stream(read_file(path));
  for (std::string line; std::getline(stream, line);) {
    const Json json = Json::parse(line);
    if (json.contains("split")) {
      for (const auto& [name, value] : json["metrics"].items()) {
        scalars[json["split"].get<std::string>() + "/" + name].emplace_back(json["step"], value);
      }
    } else {
      for (const auto& [key, tag] : tags) scalars[tag].emplace_back(json["step"], json[key]);
    }
  }
  return scalars;
}

void check_events(const LongJob& job, const std::string& python, const std::string& run) {
  const Json events = read_events(python, job.path(run + "/tensorboard"));
  const auto scalars = logged_scalars(job.path(run + "/metrics.jsonl"));
  REQUIRE(scalars.at("train/loss_window").size() == 10);
  REQUIRE(scalars.count("dev/accuracy") == 1);
  for (const auto& [tag, points] : scalars) {
    CAPTURE(tag);
    REQUIRE(events.contains(tag));
    REQUIRE(events[tag].size() == points.size());
    for (size_t i = 0; i < points.size(); ++i) {
      CHECK(events[tag][i][0] == points[i].first);
      CHECK(std::abs(events[tag][i][1].get<double>() - points[i].second) <= 1e-6 * std::abs(points[i].second));
    }
  }
}

TEST_CASE("stock TensorBoard reads what was logged") {
  const auto python = python_path();
  if (!python) return;
  const LongJob job(2);
  REQUIRE(job.train("whole").exit_code == 0);
  check_events(job, *python, "whole");
  REQUIRE(job.train("pieces", {"--set", "train.stop_at_step=4"}).exit_code == 7);
  REQUIRE(job.train("pieces", {"--resume", "--set", "train.stop_at_step=7"}).exit_code == 7);
  REQUIRE(job.train("pieces", {"--resume"}).exit_code == 0);
  check_events(job, *python, "pieces");
}

TEST_CASE("without output.tensorboard there are no event files") {
  const LongJob job(1);
  REQUIRE(job.train("run", {"--set", "output.tensorboard=false"}).exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(job.path("run/tensorboard")));
}

}  // namespace
}  // namespace bertft::test
