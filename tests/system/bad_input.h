// Cases of bad input to a training run, and what must hold for each: the exit code, one message with all that helps,
// and nothing written or lost.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"

namespace bertft::test {

struct BadInput {
  std::string name;
  std::function<void(const JobFolder&)> spoil;
  int exit_code;
  std::vector<std::string> fragments;  // each must be in the message
  std::vector<std::string> arguments = {};
  bool is_of_the_command = false;  // a fault of train's own arguments, which `check` does not have
};

inline auto set_line(const std::string& from, const std::string& to) {
  return [=](const JobFolder& job) { job.replace("c.yaml", from, to); };
}

inline auto replace_in(const std::string& file, const std::string& from, const std::string& to) {
  return [=](const JobFolder& job) { job.replace(file, from, to); };
}

inline auto nothing() {
  return [](const JobFolder&) {};
}

// Spoils a good job as each case says, runs it and checks what came of it: `train` stops with one message, and `check`
// lists the same fault and ends with the same exit code.
void check_cases(const std::vector<BadInput>& cases);

}  // namespace bertft::test
