#include "tests/support/run_binary.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

#include "core/files.h"
#include "tests/support/temp_folder.h"

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

}  // namespace

std::string binary_path() {
  const char* given = std::getenv("BERTFT_BINARY");
  return given != nullptr ? given : BERTFT_BUILT_BINARY;
}

RunResult run_program(const std::string& program, const RunRequest& request) {
  const TempFolder folder;
  folder.write("in", request.input);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) become(program, request, folder);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(folder / "out"),
          read_file(folder / "err"), usage.ru_maxrss};
}

RunResult run_binary(const RunRequest& request) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    ::unsetenv(name);
  }
  return run_program(binary_path(), request);
}

RunResult run_binary(const std::vector<std::string>& arguments) {
  return run_binary(RunRequest{.arguments = arguments});
}

}  // namespace bertft::test
