// What tests of jobs of several ranks look at when it has ended: logs, traces and models of a LongJob.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/system/long_job.h"

namespace bertft::test {

std::string log_path(const LongJob& job, const std::string& run, int rank);
// As messages call a rank of this machine: "rank 1 (host)".
std::string name_of(int rank);
// The marker of a job: an argument of its command line.
std::string marker_of(const LongJob& job, const std::string& run);

size_t count_of(const std::string& text, const std::string& part);

// The traces of all ranks.
std::vector<std::string> traces_of(const LongJob& job, const std::string& run, int ranks);
// Two runs have the same traces, models and predictions, to the byte.
void check_same_run(const LongJob& job, const std::string& run, const std::string& expected, int ranks);

// The log of every rank but `lost` ends with a line that holds `cause`, and so does what it wrote to the console.
void check_survivors(const LongJob& job, const std::string& run, int ranks, int lost, const std::string& cause,
                     const std::string& console);

}  // namespace bertft::test
