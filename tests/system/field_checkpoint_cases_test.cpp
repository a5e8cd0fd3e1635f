// Field cases of checkpoints through the executable: what people really found in place of weights or vocabulary (B15),
// unusual headers that are valid (B17), and BERT weights that need another tokenizer (B18).
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/job_folder.h"
#include "tests/support/shared_data.h"
#include "tests/support/test.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

void require_refused(const RunResult& result, const std::vector<std::string>& fragments) {
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 3);
  for (const std::string& fragment : fragments) CHECK_THAT(result.err, Contains(fragment));
}

// `check` lists the same and ends with the same exit code.
void require_found_by_check(const JobFolder& job, const std::vector<std::string>& fragments) {
  const RunResult result = run_binary({"check", "--config", job.path("c.yaml"), "--set", "threads=1"});
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 3);
  for (const std::string& fragment : fragments) CHECK_THAT(result.out, Contains(fragment));
}

// What stands for the weights or the vocabulary, and how each command refuses it.
void check_impostor(const std::string& content, const std::vector<std::string>& fragments) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin", "vocab.txt"}) {
    INFO(name);
    const JobFolder job;
    if (std::string(name) == "pytorch_model.bin") job.remove("checkpoint/model.safetensors");
    job.write(std::string("checkpoint/") + name, content);
    std::vector<std::string> expected = fragments;
    expected.push_back(std::string("checkpoint/") + name);
    require_refused(run_binary({"inspect", job.path("checkpoint")}), expected);
    require_refused(job.train(), expected);
    require_found_by_check(job, expected);
    CHECK_FALSE(fs::exists(job.path("run")));
    if (std::string(name) == "vocab.txt") {
      require_refused(run_binary({"tokenize", "--model", job.path("checkpoint"), "a film"}), expected);
    } else {
      require_refused(run_binary({"inspect", job.path(std::string("checkpoint/") + name)}), expected);
    }
  }
}

TEST_CASE("B15: a Git LFS pointer in place of weights or vocabulary is refused with the real size and the remedy") {
  const auto pointer = shared_path("field_cases/B15/pointer.txt");
  if (!pointer) return;
  check_impostor(read_file(*pointer), {"Git LFS pointer", "437999801 bytes", "git lfs pull"});
}

TEST_CASE("B15: a web page in place of weights or vocabulary is refused in its own words") {
  check_impostor("<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body></body></html>\n",
                 {"is a web page, not the file itself", "Download the file again"});
}

// The cells of the named columns of a table that predict wrote.
std::vector<std::vector<std::string>> columns_of(const std::string& table, const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) rows.back().push_back(cell);
  }
  std::vector<std::vector<std::string>> chosen;
  for (size_t row = 1; row < rows.size(); ++row) {
    chosen.emplace_back();
    for (const std::string& name : names) {
      const auto at = std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin();
      chosen.back().push_back(rows[row].at(static_cast<size_t>(at)));
    }
  }
  return chosen;
}

void check_prediction(const std::vector<std::string>& cells, const std::string& label, std::vector<double> logits) {
  REQUIRE(cells.size() == 4);
  CHECK(cells[0] == label);
  for (size_t i = 0; i < 3; ++i) CHECK(std::stod(cells[i + 1]) == Approx(logits[i]).margin(1e-5));
}

void check_unusual_header(const std::string& root, const std::string& variant) {
  const TempFolder folder;
  for (const char* name : {"config.json", "tokenizer_config.json", "vocab.txt"}) {
    folder.write(name, read_file(root + "/" + name));
  }
  folder.write("model.safetensors", read_file(root + "/" + variant + ".safetensors"));
  const auto run = [&](std::vector<std::string> arguments, const std::string& input) {
    const RunResult result = run_binary({.arguments = std::move(arguments), .input = input});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return result.out;
  };
  CHECK(run({"tokenize", "--model", folder.path(), "--pair", "--ids", "--data", "-"}, "a b.\nc\tds e\nf, f, f!\n") ==
        "2 5 6 13 3\n2 7 3 8 11 9 3\n2 10 14 10 14 10 15 3\n");

  const std::vector<std::string> wanted = {"prediction", "logit_neg", "logit_neu", "logit_pos"};
  const auto predict = [&](const std::string& table) {
    const std::string path = folder.write("texts.tsv", table);
    return columns_of(run({"predict", "--model", folder.path(), "--data", path, "--logits", "--digits", "9"}, ""),
                      wanted);
  };
  const auto singles = predict("text\na b.\nf, f, f!\n");
  const auto pairs = predict("text\ttext_pair\nc\tds e\n");
  REQUIRE(singles.size() == 2);
  REQUIRE(pairs.size() == 1);
  check_prediction(singles[0], "neu", {0.171989, 0.186063, -0.621276});
  check_prediction(pairs[0], "neg", {0.304310, -0.032991, -0.504044});
  check_prediction(singles[1], "neg", {0.242102, 0.065283, -0.591456});

  const std::string report = run({"inspect", folder.path()}, "");
  CHECK_THAT(report, Contains("loaded: 25 tensors") && Contains("100 % of the encoder"));
  if (variant != "no_metadata_reversed") return;
  CHECK_THAT(report, Contains("ignored: bert.embeddings.position_ids") && Contains("ignored: bert.empty"));
}

TEST_CASE("B17: unusual but valid headers load, with the logits of the reference") {
  const auto root = shared_path("field_cases/B17");
  if (!root) return;
  for (const char* variant : {"empty_metadata", "no_metadata_reversed", "text_metadata"}) {
    INFO(variant);
    check_unusual_header(*root, variant);
  }
}

TEST_CASE(
    "B18: a tokenizer that is not WordPiece is refused by every command that needs it, and inspect shows the weights") {
  const auto root = shared_path("field_cases");
  if (!root) return;
  struct Case {
    const char* folder;
    std::vector<std::string> fragments;
  };
  const std::vector<Case> cases = {{"mecab", {"BertJapaneseTokenizer", "checkpoint/config.json"}},
                                   {"config_only", {"BertJapaneseTokenizer", "checkpoint/config.json"}},
                                   {"xlmr", {"XLMRobertaTokenizer", "checkpoint/tokenizer_config.json"}}};
  for (const Case& c : cases) {
    INFO(c.folder);
    const JobFolder job;
    job.remove("checkpoint");
    fs::create_directory(job.path("checkpoint"));
    for (const fs::directory_entry& file : fs::directory_iterator(*root + "/B18/" + c.folder)) {
      job.write("checkpoint/" + file.path().filename().string(), read_file(file.path().string()));
    }
    job.write("checkpoint/model.safetensors", read_file(*root + "/B17/text_metadata.safetensors"));
    std::vector<std::string> expected = c.fragments;
    expected.insert(expected.end(), {"is not supported", "This build reads BERT WordPiece tokenizers"});

    const RunResult tokenized = run_binary({"tokenize", "--model", job.path("checkpoint"), "--ids", "a b."});
    require_refused(tokenized, expected);
    CHECK(tokenized.out.empty());
    const RunResult inspected = run_binary({"inspect", job.path("checkpoint")});
    require_refused(inspected, expected);
    CHECK_THAT(inspected.out, Contains("25 tensors") && Contains("100 % of the encoder"));
    job.replace("c.yaml", "max_length: 16", "max_length: 12");
    require_refused(job.train(), expected);
    require_found_by_check(job, expected);
    CHECK_FALSE(fs::exists(job.path("run")));
  }
}

}  // namespace
}  // namespace bertft::test
