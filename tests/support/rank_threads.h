// N ranks as threads of one process, with a bootstrap between them: what mpirun and MPI are to the real program.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/bootstrap.h"

namespace bertft::test {

// Runs body(bootstrap) for each rank on a thread of its own and waits for all. Returns the message of the error that
// each rank ended with, "" for none. A rank that ends early fails the bootstrap calls of the others, so nobody hangs.
// Assertions belong behind this call: Catch2 is not made for several threads.
std::vector<std::string> run_ranks(int ranks, const std::function<void(Bootstrap&)>& body);

}  // namespace bertft::test
