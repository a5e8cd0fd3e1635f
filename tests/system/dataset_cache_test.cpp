// The dataset cache through the executable: the second start is the first one without the reading, in bounded memory.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "checkpoint/tensor_file.h"
#include "core/files.h"
#include "core/rng.h"
#include "tests/support/job_folder.h"
#include "tests/support/shared_data.h"
#include "tests/support/test.h"

namespace bertft::test {
namespace {

using Catch::Contains;

// Everything about the data that a run says.
std::string data_lines(const std::string& log) {
  const size_t begin = log.find("\ntrain: ");
  return log.substr(begin, log.find("\nstep ", begin) - begin);
}

TEST_CASE("a second start takes the data set from the cache and does exactly the same") {
  const JobFolder job;
  const std::string cache = "data.cache_dir=" + job.path("cache");
  job.write("train.tsv", "\xEF\xBB\xBFlabel\ttext\r\ngood\ta good film \xE4\xBD\xA0\nbad\tthe \xFF book\ngood\tred\n");
  const RunResult off = job.train({"--set", "data.cache_dir=none", "--trace", job.path("off")});
  const RunResult cold = job.train({"--overwrite", "--set", cache, "--trace", job.path("cold")});
  const std::string cold_predictions = read_file(job.path("run/predictions/test.tsv"));
  const std::string cold_json = read_file(job.path("run/run.json"));
  const RunResult warm = job.train({"--overwrite", "--set", cache, "--trace", job.path("warm")});
  CAPTURE(off.err, cold.err, warm.err);
  REQUIRE(off.exit_code + cold.exit_code + warm.exit_code == 0);
  CHECK_THAT(off.err, !Contains("dataset cache"));
  CHECK_THAT(cold.err, Contains("dataset cache: kept in") && !Contains("taken from"));
  CHECK_THAT(warm.err, Contains("dataset cache: taken from") && !Contains("kept in"));
  CHECK(read_file(job.path("warm")) == read_file(job.path("cold")));
  CHECK(read_file(job.path("off")) == read_file(job.path("cold")));
  CHECK(read_file(job.path("run/predictions/test.tsv")) == cold_predictions);
  CHECK(nlohmann::json::parse(read_file(job.path("run/run.json")))["data"] == nlohmann::json::parse(cold_json)["data"]);
  CHECK_THAT(data_lines(cold.err), Contains("U+4F60") && Contains("byte order mark"));
  CHECK(data_lines(warm.err) == data_lines(cold.err));
}

TEST_CASE("verify-data sees a content that changed behind size, time and inode") {
  const JobFolder job;
  const std::string cache = "data.cache_dir=" + job.path("cache");
  REQUIRE(job.train({"--set", cache}).exit_code == 0);
  const RunResult same = job.train({"--overwrite", "--set", cache, "--verify-data"});
  CHECK(same.exit_code == 0);
  CHECK_THAT(same.err, Contains("verified") && Contains("train.tsv"));
  struct stat before {};
  REQUIRE(::stat(job.path("train.tsv").c_str(), &before) == 0);
  const int descriptor = ::open(job.path("train.tsv").c_str(), O_WRONLY);
  REQUIRE(::pwrite(descriptor, "G", 1, before.st_size - 2) == 1);
  const timespec times[2] = {before.st_atim, before.st_mtim};
  REQUIRE(::futimens(descriptor, times) == 0);
  ::close(descriptor);
  CHECK(job.train({"--overwrite", "--set", cache}).exit_code == 0);  // what a cache cannot know
  const RunResult changed = job.train({"--overwrite", "--set", cache, "--verify-data"});
  CHECK(changed.exit_code == 3);
  CHECK_THAT(changed.err, Contains("train.tsv: the content has hash"));
}

TEST_CASE("one cache serves all readings of labels, and a cache folder that cannot be used is a warning") {
  const JobFolder job;
  const std::string cache = "data.cache_dir=" + job.path("cache");
  REQUIRE(job.train({"--set", cache}).exit_code == 0);
  const RunResult mapped = job.train({"--overwrite", "--set", cache, "--set", "data.label_map={good: 1, bad: 0}"});
  CHECK(mapped.exit_code == 0);
  CHECK_THAT(mapped.err, Contains("taken from") && Contains("2 labels: 0 5") && !Contains("kept in"));
  const RunResult blocked = job.train({"--overwrite", "--set", "data.cache_dir=" + job.path("c.yaml")});
  CHECK(blocked.exit_code == 0);
  CHECK_THAT(blocked.err, Contains("no dataset cache in") && Contains("it is no folder"));
}

// A checkpoint with the multilingual vocabulary of 119,547 pieces.
void write_multilingual(const JobFolder& job, const std::string& vocabulary) {
  TinyCheckpoint checkpoint;
  checkpoint.words.clear();
  for (int i = 0; i < 119'542; ++i) checkpoint.words.push_back("w" + std::to_string(i));
  checkpoint.write(job.path("checkpoint"));
  std::filesystem::copy_file(vocabulary, job.path("checkpoint/vocab.txt"),
                             std::filesystem::copy_options::overwrite_existing);
  job.write("checkpoint/tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer", "do_lower_case": false})");
}

std::set<int64_t> rows_with_gradient(const std::string& path) {
  const TensorFile file = TensorFile::open(path);
  for (const TensorView& tensor : file.tensors()) {
    if (tensor.name.find("word_embeddings") == std::string::npos) continue;
    std::set<int64_t> rows;
    std::vector<float> values(tensor.bytes / sizeof(float));
    std::memcpy(values.data(), tensor.data, tensor.bytes);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0.0f) rows.insert(static_cast<int64_t>(i) / tensor.shape[1]);
    }
    return rows;
  }
  return {};
}

TEST_CASE("ids above 65,535 survive the cache (B08)") {
  const auto data = shared_path("field_cases/B08/train.tsv");
  const auto vocabulary = shared_path("data/bert_vocabs/bert-base-multilingual-cased-vocab.txt");
  if (!data || !vocabulary) return;
  const JobFolder job;
  write_multilingual(job, *vocabulary);
  for (const char* split : {"train.tsv", "dev.tsv", "test.tsv"}) job.write(split, read_file(*data));
  const std::set<int64_t> expected = {101, 102, 9'954, 19'985, 32'768, 41'919, 65'535, 65'537, 118'663};
  std::string predictions;
  for (const char* run : {"cold", "warm"}) {
    const RunResult result = job.train({"--overwrite", "--set", "data.cache_dir=" + job.path("cache"), "--set",
                                        "train.global_batch_size=12", "--dump-step", "1", job.path(run)});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK_THAT(result.err, Contains(run == std::string("cold") ? "kept in" : "taken from"));
    CHECK(rows_with_gradient(job.path(run)) == expected);
    const std::string here = read_file(job.path("run/predictions/test.tsv"));
    CHECK((predictions.empty() || predictions == here));
    predictions = here;
  }
  CHECK(read_file(job.path("cold")) == read_file(job.path("warm")));
}

// A million rows with 140 MB of text and 128 MB of ids.
void write_million_rows(const JobFolder& job) {
  const std::vector<std::string> words = TinyCheckpoint().words;
  std::string text = "label\ttext\n";
  for (uint64_t row = 0; row < 1'000'000; ++row) {
    uint64_t bits = mix64(row);
    text += bits % 2 == 0 ? "good\t" : "bad\t";
    for (int word = 0; word < 30; ++word, bits = mix64(bits)) text += words[bits % 9] + " ";
    text.back() = '\n';
  }
  job.write("train.tsv", text);
}

TEST_CASE("a million rows are tokenized, cached and trained on in bounded memory") {
  const JobFolder job;
  write_million_rows(job);
  job.replace("c.yaml", "  epochs: 2\n", "  max_steps: 20\n");
  const std::vector<std::string> changes = {
      "--overwrite",         "--set", "data.cache_dir=" + job.path("cache"), "--set",
      "model.max_length=32", "--set", "train.global_batch_size=32"};
  std::vector<std::string> few = changes;
  few.insert(few.end(), {"--set", "data.train=" + job.path("dev.tsv")});
  const int64_t base_kib = run_binary_measured({.arguments = job.train_arguments(few)}).peak_kib;
  // The rows' lengths, labels, places and hashes are gathered in memory, 71 bytes a row in arrays that double. With the
  // text or the ids beside them it would be more than 200 MB. Later starts map them.
  const std::vector<std::pair<std::string, int64_t>> starts = {{"kept in", 165 * 1024}, {"taken from", 40 * 1024}};
  for (const auto& [expected, bound_kib] : starts) {
    const auto [result, peak_kib] = run_binary_measured({.arguments = job.train_arguments(changes)});
    CAPTURE(result.err, peak_kib, base_kib);
    REQUIRE(result.exit_code == 0);
    CHECK_THAT(result.err, Contains(expected) && Contains("1,000,000 rows"));
    CHECK(peak_kib - base_kib < bound_kib);
  }
}

}  // namespace
}  // namespace bertft::test
