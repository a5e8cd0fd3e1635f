// Labels as people really have them, through the executable: number-like ones, unlabelled files, a second header line,
// maps, patterns and rows to leave out; and what the data report says of odd characters.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "core/files.h"
#include "tests/support/job_folder.h"
#include "tests/support/shared_data.h"
#include "tests/support/test.h"

namespace bertft::test {
namespace {

using Catch::Contains;
using Json = nlohmann::json;

RunResult train(const JobFolder& job, const std::string& file, std::vector<std::string> more = {}) {
  more.insert(more.end(),
              {"--overwrite", "--set", "data.train=" + file, "--set", "data.dev=[]", "--set", "data.test=[]"});
  return job.train(more);
}

int64_t lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST_CASE("labels that look like numbers are classes as written (B12)") {
  const auto folder = shared_path("field_cases/B12");
  if (!folder) return;
  const JobFolder job;
  const RunResult trained = train(job, *folder + "/train.tsv");
  CAPTURE(trained.err);
  REQUIRE(trained.exit_code == 0);
  const std::vector<std::string> names = {"-1", "0", "1.5", "1.50", "07", "7", "10"};
  const Json config = Json::parse(read_file(job.path("run/best/config.json")));
  for (size_t i = 0; i < names.size(); ++i) CHECK(config["id2label"][std::to_string(i)] == names[i]);
  CHECK_THAT(trained.err, Contains("'1.5' and '1.50'") && Contains("'07' and '7'"));
  CHECK_THAT(trained.err, Contains("7 labels: -1 3 (14.3 %), 0 3 (14.3 %), 1.5 3"));
  const RunResult dev = job.train({"--overwrite", "--set", "data.train=" + *folder + "/train.tsv", "--set",
                                   "data.dev=" + *folder + "/dev.tsv", "--set", "data.test=[]"});
  CHECK(dev.exit_code == 3);
  CHECK_THAT(dev.err, Contains("dev.tsv:3") && Contains("'7.0'"));
}

TEST_CASE("JSON values keep their form, and null is a missing label (B12)") {
  const auto folder = shared_path("field_cases/B12");
  if (!folder) return;
  const JobFolder job;
  const RunResult missing = train(job, *folder + "/train.jsonl");
  CHECK(missing.exit_code == 3);
  CHECK_THAT(missing.err, Contains("train.jsonl:5: the label is missing") && Contains("1 of 5 rows"));
  const RunResult skipped = train(job, *folder + "/train.jsonl", {"--set", "data.unknown_label=skip"});
  CAPTURE(skipped.err);
  CHECK(skipped.exit_code == 0);
  CHECK_THAT(skipped.err, Contains("3 labels: 1 2 (50 %), 1.0 1 (25 %), true 1 (25 %)"));
  CHECK_THAT(skipped.err, Contains("left out: 1 row without a label"));
}

TEST_CASE("an unlabelled file is predicted, and refused by evaluate (B12)") {
  const auto folder = shared_path("field_cases/B12");
  if (!folder) return;
  const JobFolder job;
  job.write("two.tsv", "text\tlabel\nsample a\t0\nsample b\t1\n");
  REQUIRE(train(job, job.path("two.tsv")).exit_code == 0);
  const std::string unlabelled = *folder + "/unlabelled.tsv";
  const RunResult predicted = run_binary({"predict", "--model", job.path("run/best"), "--data", unlabelled});
  CHECK(predicted.exit_code == 0);
  CHECK(lines_of(predicted.out) == 3);
  const RunResult scored = run_binary({"evaluate", "--model", job.path("run/best"), "--data", unlabelled});
  CHECK(scored.exit_code == 3);
  CHECK_THAT(scored.err, Contains("'-1' (2 rows)"));
}

TEST_CASE("a second header line is a fault, is skipped, or is warned of as a class (B11)") {
  const auto folder = shared_path("field_cases/B11");
  if (!folder) return;
  const JobFolder job;
  const RunResult fault = train(job, *folder + "/joined.csv");
  CHECK(fault.exit_code == 3);
  CHECK_THAT(fault.err, Contains("joined.csv:5"));
  const RunResult skipped = train(job, *folder + "/joined.csv", {"--set", "data.bad_row=skip"});
  CAPTURE(skipped.err);
  CHECK(skipped.exit_code == 0);
  CHECK_THAT(skipped.err, Contains("train: 5 rows") && Contains("2 labels: 0 2 (40 %), 1 3 (60 %)"));
  // A header of other columns is a row like any other to the reader.
  job.write("other.tsv", "text\tlabel\na\t0\nb\t1\nsentence\tlabel\nc\t0\n");
  const RunResult warned = train(job, job.path("other.tsv"));
  CHECK(warned.exit_code == 0);
  CHECK_THAT(warned.err, Contains("label 'label' of 1 row (first") && Contains("other.tsv:4") && Contains("header"));
}

TEST_CASE("the data report names look-alike characters by their code points (B04)") {
  const auto texts = shared_path("field_cases/B04/texts.txt");
  const auto vocabulary = shared_path("data/bert_vocabs/bert-base-chinese-vocab.txt");
  if (!texts || !vocabulary) return;
  const JobFolder job;
  TinyCheckpoint checkpoint;
  checkpoint.words.clear();
  for (int i = 0; i < 21'123; ++i) checkpoint.words.push_back("w" + std::to_string(i));
  checkpoint.write(job.path("checkpoint"));
  std::filesystem::copy_file(*vocabulary, job.path("checkpoint/vocab.txt"),
                             std::filesystem::copy_options::overwrite_existing);
  job.write("checkpoint/tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer", "do_lower_case": false})");
  std::string rows = "text\tlabel\n";
  const std::string content = read_file(*texts);
  for (size_t begin = 0, row = 0; begin < content.size(); ++row) {
    const size_t end = std::min(content.find('\n', begin), content.size());
    rows += content.substr(begin, end - begin) + "\t" + std::to_string(row % 2) + "\n";
    begin = end + 1;
  }
  job.write("rows.tsv", rows);
  const RunResult result = train(job, job.path("rows.tsv"));
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  for (const char* code : {"U+2F2D", "U+2F54", "U+2F08", "U+2F2F", "U+1D5D4", "U+1D7ED", "U+F9C4", "U+FA11"}) {
    CHECK_THAT(result.err, Contains(code));
  }
}

TEST_CASE("a model directory remembers how labels are read, and evaluate obeys") {
  const JobFolder job;
  job.write("coded.tsv", "text\tlabel\na good film\tP:x\nbad film\tN:y\ngood\tP:z\nthe bad\tN:\nred\t-\n");
  const RunResult trained = train(job, job.path("coded.tsv"),
                                  {"--set", "data.label_pattern=^([^:]+):", "--set", "data.label_map={P: good, N: bad}",
                                   "--set", "data.unknown_label=skip"});
  CAPTURE(trained.err);
  REQUIRE(trained.exit_code == 0);
  CHECK_THAT(trained.err, Contains("left out: 1 row with a label that is none of them: '-' (1 row)"));
  const Json settings = Json::parse(read_file(job.path("run/best/bert_finetune.json")));
  CHECK(settings["label_pattern"] == "^([^:]+):");
  CHECK(settings["label_type"] == "single");
  const RunResult scored = run_binary(
      {"evaluate", "--model", job.path("run/best"), "--data", job.path("coded.tsv"), "--output", job.path("scores")});
  CAPTURE(scored.err, scored.out);
  CHECK(scored.exit_code == 0);
  CHECK_THAT(scored.out, Contains("4 rows"));
  // One prediction for each row of the input, the one that was left out of the scores, too.
  const std::string predictions = read_file(job.path("scores/predictions.tsv"));
  CHECK(lines_of(predictions) == 6);
  CHECK_THAT(predictions, Contains("red\t-\t"));
}

TEST_CASE("dev is split off by text, with the same rows every time") {
  const JobFolder job;
  std::string rows = "text\tlabel\n";
  for (int row = 0; row < 300; ++row) {
    const std::string text = (row % 2 == 0 ? "good " : "bad ") + std::string(static_cast<size_t>(row % 50) + 1, 'x');
    rows += text + "\t" + (row % 2 == 0 ? "good" : "bad") + "\n";
  }
  job.write("rows.tsv", rows);
  std::string first;
  for (const char* seed : {"1", "1", "2"}) {
    const RunResult result =
        train(job, job.path("rows.tsv"),
              {"--set", "data.dev_fraction=0.3", "--set", std::string("seed=") + seed, "--set", "train.epochs=1"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK_THAT(result.err, Contains("dev: ") && !Contains("have a text that train has, too"));
    const std::string predictions = read_file(job.path("run/predictions/dev.tsv"));
    CHECK(lines_of(predictions) > 31);
    std::string texts;
    for (size_t at = 0; at < predictions.size(); at = predictions.find('\n', at) + 1) {
      texts += predictions.substr(at, predictions.find('\t', at) - at) + "\n";
    }
    if (first.empty()) first = texts;
    CHECK((texts == first) == (seed == std::string("1")));
  }
  const RunResult both = job.train({"--overwrite", "--set", "data.dev_fraction=0.3"});
  CHECK(both.exit_code == 2);
  CHECK_THAT(both.err, Contains("data.dev") && Contains("data.dev_fraction"));
}

}  // namespace
}  // namespace bertft::test
