#include "tests/system/rank_checks.h"

#include "core/files.h"
#include "core/host.h"
#include "tests/support/test.h"

namespace bertft::test {

std::string log_path(const LongJob& job, const std::string& run, int rank) {
  return job.path(run + "/logs/rank_000" + std::to_string(rank) + ".log");
}

std::string name_of(int rank) { return "rank " + std::to_string(rank) + " (" + host_name() + ")"; }

std::string marker_of(const LongJob& job, const std::string& run) { return "output.dir=" + job.path(run); }

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

std::vector<std::string> traces_of(const LongJob& job, const std::string& run, int ranks) {
  std::vector<std::string> traces;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string path = job.path(run + ".trace");
    traces.push_back(read_file(ranks == 1 ? path : path + ".000" + std::to_string(rank)));
  }
  return traces;
}

void check_same_run(const LongJob& job, const std::string& run, const std::string& expected, int ranks) {
  CHECK(traces_of(job, run, ranks) == traces_of(job, expected, ranks));
  for (const std::string file : {"/best/model.safetensors", "/last/model.safetensors", "/predictions/dev.tsv"}) {
    CAPTURE(file);
    CHECK(read_file(job.path(run + file)) == read_file(job.path(expected + file)));
  }
}

void check_survivors(const LongJob& job, const std::string& run, int ranks, int lost, const std::string& cause,
                     const std::string& console) {
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == lost) continue;
    CAPTURE(rank, console);
    const std::string last = last_line(read_file(log_path(job, run, rank)));
    CAPTURE(last);
    CHECK(last.find(" E ") != std::string::npos);
    CHECK(last.find(cause) != std::string::npos);
    CHECK(console.find(rank == 0 ? "error: " + cause : "error: rank " + std::to_string(rank) + ": " + cause) !=
          std::string::npos);
  }
}

}  // namespace bertft::test
