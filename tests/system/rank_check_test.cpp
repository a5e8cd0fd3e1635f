// check as several ranks: a table of the node, and every fault once, with the ranks that have it.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/host.h"
#include "tests/support/job_folder.h"
#include "tests/support/test.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

using Json = nlohmann::json;

std::vector<std::string> check_arguments(const JobFolder& job, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"check", "--config", job.path("c.yaml")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string value_of(const Json& facts, const std::string& name) {
  for (const Json& fact : facts) {
    if (fact["name"] == name) return fact["value"];
  }
  FAIL("there is no fact " << name << " in " << facts);
  return "";
}

TEST_CASE("check of two ranks shows their node and finds nothing wrong with a good job") {
  if (!has_mpirun()) return;
  const JobFolder job;
  const RunResult text = run_ranks(2, check_arguments(job));
  CAPTURE(text.out, text.err);
  CHECK(text.exit_code == 0);
  CHECK(text.out.find(host_name() + ": ranks 0-1\n  cores") != std::string::npos);
  CHECK(count_of(text.out, ": no faults found") == 1);
  const RunResult result = run_ranks(2, check_arguments(job, {"--json"}));
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 0);
  const Json json = Json::parse(result.out);
  CHECK(json["faults"].empty());
  REQUIRE(json["nodes"].size() == 1);
  CHECK(json["nodes"][0]["ranks"] == Json({0, 1}));
  const Json& facts = json["nodes"][0]["facts"];
  CHECK(value_of(facts, "cores").find("shared by 2 ranks") != std::string::npos);
  CHECK(value_of(facts, "memory").find(" MB available") != std::string::npos);
  CHECK(value_of(facts, "data.train").find(job.path("train.tsv") + ": ") == 0);
  CHECK(value_of(facts, "output.dir").find("(to be made), writable") != std::string::npos);
  for (const char* name : {"CPU quota", "GPU", "kernels", "program", "LibTorch", "MPI", "network"}) {
    CHECK_FALSE(value_of(facts, name).empty());
  }
  CHECK(value_of(json["facts"], "data").find("10 rows") != std::string::npos);
  CHECK(value_of(json["facts"], "checkpoint").find("100") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(job.path("run")));
}

TEST_CASE("check tells a fault of all ranks once and one of a single rank with its name") {
  if (!has_mpirun()) return;
  const JobFolder job;
  job.append("dev.tsv", "good\n");
  const RunResult result = run_program(
      "mpirun", ranks_request({check_arguments(job), check_arguments(job, {"--set", "data.test=none.tsv"})}));
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 3);
  CHECK(count_of(result.out, "dev.tsv:4") == 1);
  CHECK(count_of(result.out, "fault ") == 2);
  CHECK(result.out.find("rank 1 (" + host_name() + "): ") != std::string::npos);
  CHECK(result.out.find("none.tsv") != std::string::npos);
}

TEST_CASE("check names every difference between ranks") {
  if (!has_mpirun()) return;
  const JobFolder job;
  job.write("other.tsv", "label\ttext\ngood\ta film\nbad\ta book\n");
  const RunResult result = run_program(
      "mpirun",
      ranks_request({check_arguments(job, {"--json"}), check_arguments(job, {"--json", "--set", "seed=7", "--set",
                                                                             "data.dev=" + job.path("other.tsv")})}));
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 4);
  const Json json = Json::parse(result.out);
  REQUIRE(json["faults"].size() == 2);
  CHECK(json["faults"][0]["message"].get<std::string>().find("seed differs") != std::string::npos);
  CHECK(json["faults"][1]["message"].get<std::string>().find("the content of data.dev differs") != std::string::npos);
}

}  // namespace
}  // namespace bertft::test
