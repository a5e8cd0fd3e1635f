// Two jobs never write into one run folder: whoever comes second is refused, unless the first is gone or taken over.
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

void wait_for_file(RunningProgram& program, const std::string& path) {
  for (int i = 0; i < 6000 && program.is_running() && !fs::exists(path); ++i) ::usleep(10'000);
  INFO(program.err());
  REQUIRE(fs::exists(path));
}

TEST_CASE("a second job in the folder of a living one is refused") {
  const LongJob job(2000);
  RunningProgram first(binary_path(), {.arguments = job.arguments("run")});
  wait_for_file(first, job.path("run/checkpoints/step_00000003"));
  for (const char* option : {"--resume", "--overwrite"}) {
    const RunResult second = job.train("run", {option});
    CAPTURE(second.err);
    CHECK(second.exit_code == 2);
    CHECK(second.err.find("another job writes to this folder: process") != std::string::npos);
    CHECK(second.err.find("--take-over") != std::string::npos);
  }
  CHECK(first.is_running());
}

TEST_CASE("a job whose process is gone is replaced at once, one of another host only when it was silent") {
  const LongJob job(1);
  RunningProgram first(binary_path(), {.arguments = job.arguments("run", {"--set", "train.epochs=2000"})});
  wait_for_file(first, job.path("run/owner.json"));
  first.signal(SIGKILL);
  first.wait();
  REQUIRE(fs::exists(job.path("run/owner.json")));
  const RunResult next = job.train("run", {"--overwrite"});
  CAPTURE(next.err);
  CHECK(next.exit_code == 0);
  CHECK(next.err.find("its process is gone") != std::string::npos);

  auto owner =
      nlohmann::json{{"host", "elsewhere"}, {"pid", 1}, {"boot_id", "b"}, {"process_start", "1"}, {"token", "t"}};
  job.folder().write("run/owner.json", owner.dump());
  CHECK(job.train("run", {"--overwrite"}).exit_code == 2);
  const RunResult taken = job.train("run", {"--overwrite", "--take-over"});
  CAPTURE(taken.err);
  CHECK(taken.exit_code == 0);

  job.folder().write("run/owner.json", owner.dump());
  fs::last_write_time(job.path("run/owner.json"), fs::file_time_type::clock::now() - std::chrono::seconds(61));
  CHECK(job.train("run", {"--overwrite"}).exit_code == 0);
}

TEST_CASE("a job that was taken over stops before it writes again") {
  const LongJob job(2000);
  RunningProgram first(binary_path(), {.arguments = job.arguments("run")});
  wait_for_file(first, job.path("run/checkpoints/step_00000003"));
  RunningProgram second(binary_path(), {.arguments = job.arguments("run", {"--resume", "--take-over"})});
  const RunResult result = first.wait();
  CAPTURE(result.err);
  CHECK(result.exit_code == 6);
  CHECK(result.err.find("was taken over by process") != std::string::npos);
  CHECK(second.is_running());
}

}  // namespace
}  // namespace bertft::test
