// predict and evaluate as several ranks: the answer of one process, whoever gets standard input (field case B21).
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "tests/support/job_folder.h"
#include "tests/support/test.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

class TrainedJob {
 public:
  TrainedJob() {
    const RunResult result = job_.train();
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
  }
  std::string path(const std::string& name) const { return job_.path(name); }
  const JobFolder& folder() const { return job_; }

  std::vector<std::string> predict(const std::string& data, const std::string& output) const {
    return {"predict", "--model", path("run/best"), "--data", data, "--output", output, "--logits", "--threads", "1"};
  }

 private:
  JobFolder job_;
};

RunResult run_with_input(int ranks, const std::vector<std::string>& arguments, const std::string& input) {
  RunRequest request = ranks == 1 ? RunRequest{.arguments = arguments} : ranks_request(ranks, arguments);
  request.input = input;
  return ranks == 1 ? run_binary(request) : run_program("mpirun", request);
}

// Lines of many lengths, so that micro-batches differ; some with words that the vocabulary does not have.
std::string lines_of(size_t bytes) {
  const std::vector<std::string> words = {"good", "bad", "film", "book", "a", "the", "red", "quux", "films", "blue"};
  std::string text;
  for (size_t i = 0; text.size() < bytes; ++i) {
    for (size_t word = 0; word <= (i * 7) % 11; ++word) text += words[(i * 3 + word * word) % words.size()] + " ";
    text += std::to_string(i) + "\n";
  }
  return text;
}

TEST_CASE("predict as several ranks from a pipe writes what one process writes") {
  if (!has_mpirun()) return;
  const TrainedJob job;
  for (const std::string& input :
       {std::string("one\ntwo\nthree\n"), std::string("a good film"), lines_of(100'000), lines_of(1'100'000)}) {
    CAPTURE(input.size());
    const RunResult alone = run_with_input(1, job.predict("-", job.path("alone.tsv")), input);
    CAPTURE(alone.err);
    REQUIRE(alone.exit_code == 0);
    const std::string expected = read_file(job.path("alone.tsv"));
    for (const int ranks : {2, 3}) {
      CAPTURE(ranks);
      const RunResult together = run_with_input(ranks, job.predict("-", job.path("p.tsv")), input);
      CAPTURE(together.err);
      REQUIRE(together.exit_code == 0);
      CHECK((read_file(job.path("p.tsv")) == expected));
      if (input.size() > 1'000'000) break;  // two pieces, which take long enough
      const RunResult shown = run_with_input(ranks, job.predict("-", "-"), input);
      REQUIRE(shown.exit_code == 0);
      CHECK((shown.out == expected));
    }
  }
}

TEST_CASE("predict as several ranks from a file with broken rows writes what one process writes") {
  if (!has_mpirun()) return;
  const TrainedJob job;
  std::string rows = "label\ttext\n";
  for (int i = 0; i < 200; ++i) rows += i % 9 == 4 ? "good\n" : "good\ta good film " + std::to_string(i) + "\n";
  job.folder().write("rows.tsv", rows);
  REQUIRE(run_binary(job.predict(job.path("rows.tsv"), job.path("alone.tsv"))).exit_code == 0);
  const RunResult together = run_ranks(3, job.predict(job.path("rows.tsv"), job.path("p.tsv")));
  CAPTURE(together.err);
  REQUIRE(together.exit_code == 0);
  CHECK(read_file(job.path("p.tsv")) == read_file(job.path("alone.tsv")));
}

TEST_CASE("evaluate as several ranks answers what one process answers") {
  if (!has_mpirun()) return;
  const TrainedJob job;
  const auto arguments = [&](const std::string& output) {
    return std::vector<std::string>{"evaluate", "--model",        job.path("run/best"), "--data", job.path("train.tsv"),
                                    "--output", job.path(output), "--threads",          "1"};
  };
  const RunResult alone = run_binary(arguments("alone"));
  REQUIRE(alone.exit_code == 0);
  const RunResult together = run_ranks(2, arguments("together"));
  CAPTURE(together.err);
  REQUIRE(together.exit_code == 0);
  CHECK(together.out == alone.out);
  for (const char* name : {"/results.json", "/predictions.tsv"}) {
    CHECK(read_file(job.path("together") + name) == read_file(job.path("alone") + name));
  }
}

TEST_CASE("what predict refuses as several ranks it says once, and leaves no file") {
  if (!has_mpirun()) return;
  const TrainedJob job;
  const auto count = [](const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  const RunResult empty = run_with_input(2, job.predict("-", job.path("p.tsv")), "");
  CAPTURE(empty.err);
  CHECK(empty.exit_code == 3);
  CHECK(count(empty.err, "standard input: the file is empty") == 1);
  const RunResult gone = run_ranks(2, job.predict(job.path("none.tsv"), job.path("p.tsv")));
  CAPTURE(gone.err);
  CHECK(gone.exit_code == 3);
  CHECK(count(gone.err, "none.tsv") == 1);
  const RunResult broken = run_with_input(2, job.predict("-", job.path("p.tsv")), std::string("PK\x03\x04\0\0\0\0", 8));
  CAPTURE(broken.err);
  CHECK(broken.exit_code == 3);
  CHECK(count(broken.err, "error: ") == 1);
  CHECK_FALSE(std::filesystem::exists(job.path("p.tsv")));
}

TEST_CASE("ranks that would predict different things are refused with what differs") {
  if (!has_mpirun()) return;
  const TrainedJob job;
  job.folder().write("one.tsv", "text\na good film\n");
  job.folder().write("two.tsv", "text\na bad film\n");
  const auto run_both = [&](const std::vector<std::string>& first, const std::vector<std::string>& second) {
    return run_program("mpirun", ranks_request({first, second}));
  };
  const std::string output = job.path("p.tsv");
  const RunResult data = run_both(job.predict(job.path("one.tsv"), output), job.predict(job.path("two.tsv"), output));
  CAPTURE(data.err);
  CHECK(data.exit_code == 4);
  CHECK(data.err.find("the content of --data differs") != std::string::npos);
  std::vector<std::string> other = job.predict(job.path("one.tsv"), output);
  other.insert(other.end(), {"--digits", "3"});
  const RunResult line = run_both(job.predict(job.path("one.tsv"), output), other);
  CAPTURE(line.err);
  CHECK(line.exit_code == 4);
  CHECK(line.err.find("the command line differs") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(output));
}

}  // namespace
}  // namespace bertft::test
