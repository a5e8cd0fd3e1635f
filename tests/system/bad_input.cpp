#include "tests/system/bad_input.h"

#include <filesystem>

#include "core/files.h"
#include "tests/support/test.h"

namespace bertft::test {
namespace {

// `check` finds what `train` refuses, perhaps among other faults that follow from it.
void check_with_check(const BadInput& bad, const JobFolder& job) {
  if (bad.is_of_the_command) return;
  std::vector<std::string> arguments = {"check", "--config", job.path("c.yaml"), "--set", "threads=1"};
  arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
  const RunResult result = run_binary(arguments);
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == bad.exit_code);
  CHECK(result.out.find("fault 1 of ") != std::string::npos);
  for (const std::string& fragment : bad.fragments) {
    CAPTURE(fragment);
    CHECK(result.out.find(fragment) != std::string::npos);
  }
}

void check_case(const BadInput& bad) {
  CAPTURE(bad.name);
  const JobFolder job;
  bad.spoil(job);
  const bool had_output = std::filesystem::exists(job.path("run"));
  check_with_check(bad, job);
  const RunResult result = job.train(bad.arguments);
  CAPTURE(result.err);
  CHECK(result.exit_code == bad.exit_code);
  for (const std::string& fragment : bad.fragments) {
    CAPTURE(fragment);
    CHECK(result.err.find(fragment) != std::string::npos);
  }
  const size_t first = result.err.find("error: ");
  CHECK(first != std::string::npos);
  CHECK(result.err.find("error: ", first + 1) == std::string::npos);
  CHECK(result.err.find("internal error") == std::string::npos);
  CHECK(std::filesystem::exists(job.path("run")) == had_output);
  if (std::filesystem::exists(job.path("run/note.txt"))) CHECK(read_file(job.path("run/note.txt")) == "mine");
}

}  // namespace

void check_cases(const std::vector<BadInput>& cases) {
  for (const BadInput& bad : cases) check_case(bad);
}

}  // namespace bertft::test
