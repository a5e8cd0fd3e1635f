// Runs a program and keeps what it said: how system tests see the real executable.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temp_folder.h"

namespace bertft::test {

struct RunResult {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

struct RunRequest {
  std::vector<std::string> arguments = {};
  std::string input = {};                                             // standard input
  std::vector<std::pair<std::string, std::string>> environment = {};  // added to this process's
};

// A program that runs beside the test, to be signalled or waited for. Killed at the end of its scope.
class RunningProgram {
 public:
  RunningProgram(const std::string& program, const RunRequest& request);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  void signal(int number) const;
  bool is_running();
  // The resident memory that is its own and in no file, at this moment; 0 when it has ended.
  int64_t anonymous_kib() const;
  // What it has written to standard error so far.
  std::string err() const;
  RunResult wait();

 private:
  TempFolder folder_;
  pid_t child_ = -1;
  int status_ = 0;
  bool has_ended_ = false;
};

// The executable under test: $BERTFT_BINARY, or the one this build made.
std::string binary_path();

RunResult run_program(const std::string& program, const RunRequest& request);

// The executable under test, without the variables that would change what it does.
RunResult run_binary(const RunRequest& request);
RunResult run_binary(const std::vector<std::string>& arguments);

struct MeasuredRun {
  RunResult result;
  int64_t peak_kib = 0;  // of RunningProgram::anonymous_kib(): mapped files are the system's to drop
};
MeasuredRun run_binary_measured(const RunRequest& request);

}  // namespace bertft::test
