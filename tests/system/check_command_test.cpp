// `check` lists every fault of a run at once, each with its place and remedy, and says nothing of a run without one.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/job_folder.h"
#include "tests/support/test.h"

namespace bertft::test {
namespace {

using Json = nlohmann::json;

RunResult check_job(const JobFolder& job, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"check", "--config", job.path("c.yaml"), "--set", "threads=1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_binary(arguments);
}

// The messages of all faults.
std::vector<std::string> messages_of(const Json& report) {
  std::vector<std::string> messages;
  for (const Json& fault : report["faults"]) messages.push_back(fault["message"]);
  return messages;
}

bool has_message(const Json& report, const std::string& fragment) {
  for (const std::string& message : messages_of(report)) {
    if (message.find(fragment) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("a run without faults passes the check, and nothing is written") {
  const JobFolder job;
  const RunResult result = check_job(job);
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(result.out.find("c.yaml: no faults found") != std::string::npos);
  CHECK(result.out.find("train: 10 rows") != std::string::npos);
  CHECK(result.out.find("100 % of the encoder") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(job.path("run")));
  const Json report = Json::parse(check_job(job, {"--json"}).out);
  CHECK(report["exit_code"] == 0);
  CHECK(report["faults"].empty());
}

TEST_CASE("a folder with a run is no fault, since it can be resumed or overwritten") {
  const JobFolder job;
  REQUIRE(job.train().exit_code == 0);
  CHECK(check_job(job).exit_code == 0);
}

TEST_CASE("all faults of all kinds stand in one list") {
  const JobFolder job;
  job.replace("c.yaml", "epochs: 2", "epochs: two\n  max_stepps: 3");
  job.replace("c.yaml", "max_length: 16", "max_length: 64");
  job.append("train.tsv", "good\nugly\ta\tb\n");
  job.write("dev.tsv", "label\ttext\nbad\tgood film\nworse\tbad film\n");
  job.remove("test.tsv");
  job.write("run/note.txt", "mine");
  const RunResult result = check_job(job, {"--json", "--set", "optimizer.learning_rate=-1", "--set", "seed=x"});
  CAPTURE(result.out);
  CHECK(result.exit_code == 2);
  const Json report = Json::parse(result.out);
  CHECK(report["exit_code"] == 2);
  for (const char* fragment : {"train.epochs: 'two'", "unknown key 'train.max_stepps'", "optimizer.learning_rate",
                               "seed", "model.max_length", "train.tsv: 2 faulty rows", "test.tsv", "output.dir"}) {
    CAPTURE(fragment);
    CHECK(has_message(report, fragment));
  }
  CHECK(has_message(report, "train.tsv:12"));
  CHECK(has_message(report, "train.tsv:13"));
  CHECK(report["not_checked"].size() >= 1);  // the labels, since the training rows have faults
}

TEST_CASE("faults of dev and test labels are found together") {
  const JobFolder job;
  job.append("dev.tsv", "worse\ta film\n");
  job.append("test.tsv", "best\ta film\n");
  const RunResult result = check_job(job);
  CAPTURE(result.out);
  CHECK(result.exit_code == 3);
  CHECK(result.out.find("dev.tsv:4: label 'worse'") != std::string::npos);
  CHECK(result.out.find("test.tsv:5: label 'best'") != std::string::npos);
}

TEST_CASE("a fault of data or checkpoint alone ends with exit code 3") {
  const JobFolder job;
  job.remove("checkpoint/vocab.txt");
  const RunResult result = check_job(job);
  CAPTURE(result.out);
  CHECK(result.exit_code == 3);
  CHECK(result.out.find("vocab.txt") != std::string::npos);
  CHECK(result.out.find("not checked: ") != std::string::npos);
}

}  // namespace
}  // namespace bertft::test
