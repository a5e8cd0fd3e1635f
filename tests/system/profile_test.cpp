// train --profile: a table whose parts add up, a trace that viewers open, and the same training.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "core/files.h"
#include "tests/support/test.h"
#include "tests/system/long_job.h"

namespace bertft::test {
namespace {

constexpr int kLeftOut = 3;

// Milliseconds per step that a line of the table gives to `part`; -1 without such a line.
double milliseconds(const std::string& text, const std::string& part) {
  const std::regex line("\\n +" + part + " +[0-9.]+ +([0-9.]+) +[0-9.]+ %");
  std::smatch found;
  return std::regex_search(text, found, line) ? std::stod(found[1]) : -1.0;
}

TEST_CASE("train --profile prints where the time of a step goes and changes nothing") {
  const LongJob job(2);
  REQUIRE(job.train("plain").exit_code == 0);
  const RunResult result = job.train("profiled", {"--profile"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(comparable(job, "profiled") == comparable(job, "plain"));
  CHECK_FALSE(std::filesystem::exists(job.path("plain/profile.json")));
  CHECK_THAT(result.err, Catch::Contains("profile: 7 steps, "));
  const double step = milliseconds(result.err, "step");
  double parts = milliseconds(result.err, "\\(other\\)");  // what is shown with two digits may be off by half of one
  REQUIRE(step > 0.0);
  for (const char* part :
       {"rows of the step", "forward", "backward", "end of the exchange", "gradient norm", "update of weights"}) {
    CAPTURE(part);
    CHECK(milliseconds(result.err, part) >= 0.0);
    parts += milliseconds(result.err, part);
  }
  CHECK(parts <= 1.02 * step + 0.1);
  for (const char* operation : {"attention, backward", "linear, gradient of weight", "bias \\+ GELU"}) {
    CAPTURE(operation);
    CHECK(milliseconds(result.err, operation) >= 0.0);
  }
}

TEST_CASE("train --profile writes a trace of whole steps, also when the run is stopped, and --overwrite removes it") {
  const LongJob job(2);
  REQUIRE(job.train("run", {"--profile", "--set", "train.stop_at_step=8"}).exit_code == 7);
  const auto trace = nlohmann::json::parse(read_file(job.path("run/profile.json")));
  std::map<std::string, int> events;
  double end_of_step = 0.0;
  for (const nlohmann::json& event : trace) {
    CHECK(event.at("ph") == "X");
    CHECK(event.at("dur").get<double>() >= 0.0);
    ++events[event.at("name").get<std::string>()];
    if (event.at("name") != "step") continue;
    CHECK(event.at("ts").get<double>() >= end_of_step);
    end_of_step = event.at("ts").get<double>() + event.at("dur").get<double>();
  }
  CHECK(events.at("step") == 8 - kLeftOut);
  CHECK(events.at("forward") == events.at("backward"));
  CHECK(events.at("update of weights") == 8 - kLeftOut);
  REQUIRE(job.train("run", {"--overwrite"}).exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(job.path("run/profile.json")));
}

TEST_CASE("train --profile of a run that is too short says so") {
  const LongJob job(2);
  const RunResult result = job.train("run", {"--profile", "--set", "train.stop_at_step=2"});
  CHECK(result.exit_code == 7);
  CHECK_THAT(result.err, Catch::Contains("profile: no step was measured; the first 3 are left out"));
}

}  // namespace
}  // namespace bertft::test
