// What signals do to a run: save and go on, or save and stop so that the command in the log's last line goes on with
// it.
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "core/files.h"
#include "tests/support/test.h"
#include "tests/system/long_job.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;

// Waits until the run has said something, for at most a minute.
void wait_for(RunningProgram& program, const std::string& text) {
  for (int i = 0; i < 6000 && program.is_running(); ++i) {
    if (program.err().find(text) != std::string::npos) return;
    ::usleep(10'000);
  }
  FAIL("the run never said '" << text << "':\n" << program.err());
}

// The command that a stopped run gave, as a shell runs it.
RunResult run_command(const std::string& command) {
  const size_t name_end = command.find(' ');
  REQUIRE(command.substr(0, name_end) == "bert_finetune");
  return run_program("/bin/sh", {.arguments = {"-c", binary_path() + command.substr(name_end)}});
}

TEST_CASE("SIGTERM, SIGINT and SIGUSR2 save the state and stop with exit code 7") {
  const LongJob job(100);
  REQUIRE(job.train("whole").exit_code == 0);
  const nlohmann::json whole = comparable(job, "whole");
  for (const int number : {SIGTERM, SIGINT, SIGUSR2}) {
    CAPTURE(number);
    fs::remove_all(job.path("stopped"));
    RunningProgram program(binary_path(), {.arguments = job.arguments("stopped", {"--set", "seed=42"})});
    wait_for(program, "step 20/");
    program.signal(number);
    const RunResult stopped = program.wait();
    CAPTURE(stopped.err);
    REQUIRE(stopped.exit_code == 7);
    CHECK_FALSE(fs::exists(job.path("stopped/owner.json")));
    const RunResult resumed = run_command(last_line(stopped.err));
    CAPTURE(resumed.err);
    REQUIRE(resumed.exit_code == 0);
    CHECK(comparable(job, "stopped") == whole);
  }
}

TEST_CASE("SIGUSR1 saves the state and goes on") {
  const LongJob job(100);
  const std::vector<std::string> rarely = {"--set", "output.checkpoint_every=100000"};
  RunningProgram program(binary_path(), {.arguments = job.arguments("run", rarely)});
  wait_for(program, "step 20/");
  program.signal(SIGUSR1);
  const RunResult result = program.wait();
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  size_t saves = 0;
  for (size_t at = 0; (at = result.err.find("training state after step", at)) != std::string::npos; ++at) ++saves;
  CHECK(saves == 2);  // the one that was asked for, and the last step's
}

TEST_CASE("a stopped evaluation is made up for when the run goes on") {
  const LongJob job(2);
  std::string rows = "label\ttext\n";
  for (int i = 0; i < 60'000; ++i) rows += i % 2 == 0 ? "good\ta good film\n" : "bad\tthe bad book .\n";
  job.folder().write("dev.tsv", rows);
  const std::vector<std::string> small = {"--set", "eval.batch_tokens=64"};
  REQUIRE(job.train("whole", small).exit_code == 0);
  RunningProgram program(binary_path(), {.arguments = job.arguments("stopped", small)});
  wait_for(program, "step 4/");
  program.signal(SIGTERM);
  const RunResult stopped = program.wait();
  CAPTURE(stopped.err);
  REQUIRE(stopped.exit_code == 7);
  CHECK(stopped.err.find("stopped after step 4 ") != std::string::npos);
  CHECK(stopped.err.find("dev after step 4") == std::string::npos);
  const RunResult resumed = run_command(last_line(stopped.err));
  CAPTURE(resumed.err);
  REQUIRE(resumed.exit_code == 0);
  CHECK(comparable(job, "stopped") == comparable(job, "whole"));
}

}  // namespace
}  // namespace bertft::test
