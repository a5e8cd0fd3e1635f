// Sparse embedding rows through the executable: a vocabulary of which a step uses little, several ranks, the same bits.
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/files.h"
#include "tests/support/test.h"
#include "tests/system/long_job.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

using Json = nlohmann::json;

constexpr int kFillers = 9000;    // words that no text has: the table is large enough for units of its own
constexpr int kHidden = 128;      // of --size tiny
constexpr int kClassToken = 2;    // the row of [CLS], which every text has
constexpr int kPaddingToken = 0;  // no text has it

void write_checkpoint(const LongJob& job) {
  std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 0; i < kFillers; ++i) words += "filler" + std::to_string(i) + "\n";
  for (const char* word : {"red", "green", "blue", "film", "book", "the", "a", "films", "good", "bad", "books", "."}) {
    words += word + std::string("\n");
  }
  job.folder().write("vocab.txt", words);
  const RunResult made = run_binary(
      {"init", "--family", "bert", "--size", "tiny", "--vocab", job.path("vocab.txt"), "--output", job.path("large")});
  CAPTURE(made.err);
  REQUIRE(made.exit_code == 0);
}

std::vector<std::string> arguments_of(const LongJob& job, const std::string& run, const std::string& sparse,
                                      const std::string& transport = "native") {
  return job.arguments(run, {"--overwrite", "--set", "model.checkpoint=" + job.path("large"), "--set",
                             "comm.sparse_embeddings=" + sparse, "--set", "comm.transport=" + transport});
}

std::vector<Json> trace_of(const LongJob& job, const std::string& run, int rank) {
  std::vector<Json> lines;
  std::istringstream text(read_file(job.path(run + ".trace.000" + std::to_string(rank))));
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  return lines;
}

RunResult run_with_fault(const LongJob& job, int ranks, int rank, int row) {
  RunRequest request = ranks_request(ranks, arguments_of(job, "fault", "auto"));
  request.environment.emplace_back("BERTFT_FAULT", "nan:rank=" + std::to_string(rank) +
                                                       ",step=3,index=" + std::to_string(row * kHidden + 5) +
                                                       ",param=embeddings.word_embeddings.weight");
  return run_program("mpirun", request);
}

// Batches of 4 rows and a last one of 2: with 3 and 4 ranks some have no row at all.
TEST_CASE("sparse embedding rows give the losses, norms and weights of the whole table to the bit") {
  if (!has_mpirun()) return;
  const LongJob job(3);
  write_checkpoint(job);
  for (const int ranks : {2, 3, 4}) {
    CAPTURE(ranks);
    const RunResult dense = run_ranks(ranks, arguments_of(job, "dense", "false"));
    CAPTURE(dense.err);
    REQUIRE(dense.exit_code == 0);
    CHECK(dense.err.find("dense embedding rows") != std::string::npos);
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"auto", "native"}, {ranks == 2 ? "true" : "auto", ranks == 2 ? "native" : "mpi"}};
    for (const auto& [rule, transport] : cases) {
      const RunResult sparse = run_ranks(ranks, arguments_of(job, "sparse", rule, transport));
      CAPTURE(rule, transport, sparse.err);
      REQUIRE(sparse.exit_code == 0);
      CHECK(sparse.err.find(rule == "auto" ? "sparse embedding rows (auto: up to half of them)"
                                           : "sparse embedding rows\n") != std::string::npos);
      for (int rank = 0; rank < ranks; ++rank) {
        REQUIRE(trace_of(job, "sparse", rank).size() == 15);
        CHECK(trace_of(job, "sparse", rank) == trace_of(job, "dense", rank));
      }
      CHECK(read_file(job.path("sparse/best/model.safetensors")) ==
            read_file(job.path("dense/best/model.safetensors")));
    }
  }
}

TEST_CASE("a NaN in an embedding row that travels alone is named by its place in the table") {
  if (!has_mpirun()) return;
  const LongJob job(1);
  write_checkpoint(job);
  for (const int ranks : {2, 3}) {
    CAPTURE(ranks);
    const RunResult result = run_with_fault(job, ranks, 1, kClassToken);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.find("step 3: the gradient is not finite: embeddings.word_embeddings.weight at flat index " +
                          std::to_string(kClassToken * kHidden + 5) + " (1 NaN, 0 infinite") != std::string::npos);
    CHECK(result.err.find("), rank 1 (") != std::string::npos);
    const std::vector<Json> first = trace_of(job, "fault", 0);
    REQUIRE(first.size() == 5);
    CHECK(first[2]["parameter_hash"] == first[1]["parameter_hash"]);  // dropped
    CHECK(first[3]["parameter_hash"] != first[2]["parameter_hash"]);
    CHECK(first[4]["grad_norm"].is_number());  // nothing of it is left
    for (int rank = 1; rank < ranks; ++rank) {
      const std::vector<Json> other = trace_of(job, "fault", rank);
      for (size_t i = 0; i < first.size(); ++i) CHECK(other[i]["parameter_hash"] == first[i]["parameter_hash"]);
    }
  }
  const RunResult unused = run_with_fault(job, 2, 0, kPaddingToken);
  CAPTURE(unused.err);
  CHECK(unused.exit_code == 0);
  CHECK(unused.err.find("no text of this rank in step 3 uses row 0 of the table") != std::string::npos);
  CHECK(unused.err.find("not finite") == std::string::npos);
}

}  // namespace
}  // namespace bertft::test
