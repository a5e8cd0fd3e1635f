// Runs a program and keeps what it said: how system tests see the real executable.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bertft::test {

struct RunResult {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out;
  std::string err;
  int64_t peak_kib = 0;  // the largest resident memory it had
};

struct RunRequest {
  std::vector<std::string> arguments = {};
  std::string input = {};                                             // standard input
  std::vector<std::pair<std::string, std::string>> environment = {};  // added to this process's
};

// The executable under test: $BERTFT_BINARY, or the one this build made.
std::string binary_path();

RunResult run_program(const std::string& program, const RunRequest& request);

// The executable under test, without the variables that would change what it does.
RunResult run_binary(const RunRequest& request);
RunResult run_binary(const std::vector<std::string>& arguments);

}  // namespace bertft::test
