#include "tests/support/run_binary.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "core/files.h"

namespace bertft::test {
namespace {

// Opens `path` as descriptor `target` of the child.
void redirect(const std::string& path, int flags, int target) {
  const int descriptor = ::open(path.c_str(), flags, 0600);
  if (descriptor < 0 || ::dup2(descriptor, target) < 0) ::_exit(127);
}

[[noreturn]] void become(const std::string& program, const RunRequest& request, const TempFolder& folder) {
  redirect(folder / "in", O_RDONLY, STDIN_FILENO);
  redirect(folder / "out", O_WRONLY | O_CREAT, STDOUT_FILENO);
  redirect(folder / "err", O_WRONLY | O_CREAT, STDERR_FILENO);
  ::setenv("TMPDIR", folder.path().c_str(), 1);  // no run finds what another left, such as cached data sets
  for (const auto& [name, value] : request.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : request.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(program.c_str(), arguments.data());
  ::_exit(127);
}

constexpr useconds_t kMemorySampleUs = 2000;

void forget_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    ::unsetenv(name);
  }
}

}  // namespace

std::string binary_path() {
  const char* given = std::getenv("BERTFT_BINARY");
  return given != nullptr ? given : BERTFT_BUILT_BINARY;
}

RunningProgram::RunningProgram(const std::string& program, const RunRequest& request) {
  folder_.write("in", request.input);
  folder_.write("err", "");
  child_ = ::fork();
  if (child_ < 0) throw std::runtime_error("fork failed");
  if (child_ == 0) become(program, request, folder_);
}

RunningProgram::~RunningProgram() {
  if (has_ended_) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, &status_, 0);
}

void RunningProgram::signal(int number) const { ::kill(child_, number); }

bool RunningProgram::is_running() {
  if (!has_ended_) has_ended_ = ::waitpid(child_, &status_, WNOHANG) == child_;
  return !has_ended_;
}

int64_t RunningProgram::anonymous_kib() const {
  namespace fs = std::filesystem;
  const std::string process = "/proc/" + std::to_string(child_);
  std::error_code error;
  if (fs::read_symlink(process + "/exe", error) == fs::read_symlink("/proc/self/exe", error)) return 0;  // not yet
  std::ifstream status(process + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::atoll(line.c_str() + std::strlen("RssAnon:"));
  }
  return 0;
}

std::string RunningProgram::err() const { return read_file(folder_ / "err"); }

RunResult RunningProgram::wait() {
  if (!has_ended_) ::waitpid(child_, &status_, 0);
  has_ended_ = true;
  const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  return {code, read_file(folder_ / "out"), err()};
}

RunResult run_program(const std::string& program, const RunRequest& request) {
  return RunningProgram(program, request).wait();
}

RunResult run_binary(const RunRequest& request) {
  forget_launcher();
  return run_program(binary_path(), request);
}

MeasuredRun run_binary_measured(const RunRequest& request) {
  forget_launcher();
  RunningProgram program(binary_path(), request);
  MeasuredRun run;
  while (program.is_running()) {
    run.peak_kib = std::max(run.peak_kib, program.anonymous_kib());
    ::usleep(kMemorySampleUs);
  }
  run.result = program.wait();
  return run;
}

RunResult run_binary(const std::vector<std::string>& arguments) {
  return run_binary(RunRequest{.arguments = arguments});
}

}  // namespace bertft::test
