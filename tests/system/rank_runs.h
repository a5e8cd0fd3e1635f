// Runs the executable as several ranks under mpirun: how system tests see a job of many processes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/run_binary.h"

namespace bertft::test {

// Whether there is an mpirun. Prints "SKIPPED: reason" when there is none.
bool has_mpirun();

// The command line of mpirun for `ranks` processes with the same arguments; it may have more ranks than cores.
RunRequest ranks_request(int ranks, const std::vector<std::string>& arguments);
// One process for each list of arguments.
RunRequest ranks_request(const std::vector<std::vector<std::string>>& arguments_of_ranks);

RunResult run_ranks(int ranks, const std::vector<std::string>& arguments);

}  // namespace bertft::test
