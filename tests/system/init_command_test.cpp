// init: a random checkpoint in published form, equal on every machine, that our own commands and the real transformers
// take as they take any other.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/python_path.h"
#include "tests/support/sha256.h"
#include "tests/support/shared_data.h"
#include "tests/support/test.h"
#include "tests/support/tiny_checkpoint.h"
#include "tests/system/reload_check.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

RunResult init(const std::string& vocab, const std::string& output, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"init", "--vocab", vocab, "--output", output};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_binary(arguments);
}

std::string digest_of(const std::string& folder) { return sha256_hex(read_file(folder + "/model.safetensors")); }

TEST_CASE("init writes the same weights on every machine, others for another seed") {
  const TempFolder folder;
  const std::string vocab = folder.write("vocab.txt", TinyCheckpoint().vocab_text());
  CHECK_THAT(require_success(init(vocab, folder / "a")),
             Contains("bert tiny, 2 layers, hidden 128, vocabulary 16, 481,152 parameters, seed 42"));
  require_success(init(vocab, folder / "b/", {"--seed", "42", "--cased", "--family", "bert", "--size", "tiny"}));
  require_success(init(vocab, folder / "c", {"--seed", "43"}));
  CHECK(digest_of(folder / "a") == "76009cf8499489a55994ced20f3c64f12b24006f230d2b5db4aea5fc81830dd5");
  CHECK(digest_of(folder / "b") == digest_of(folder / "a"));
  CHECK(digest_of(folder / "c") != digest_of(folder / "a"));
  CHECK_THAT(read_file(folder / "a/tokenizer_config.json"), Contains("\"do_lower_case\": true"));
  CHECK_THAT(read_file(folder / "b/tokenizer_config.json"), Contains("\"do_lower_case\": false"));
  CHECK(read_file(folder / "a/vocab.txt") == read_file(vocab));
  CHECK_FALSE(fs::exists(folder / "a.tmp"));
}

TEST_CASE("init knows the sizes of the miniatures") {
  const TempFolder folder;
  const std::string vocab = folder.write("vocab.txt", TinyCheckpoint().vocab_text());
  const std::vector<std::pair<std::string, std::string>> sizes = {
      {"tiny", "2 layers, hidden 128, 2 heads, intermediate 512"},
      {"mini", "4 layers, hidden 256, 4 heads, intermediate 1024"},
      {"small", "4 layers, hidden 512, 8 heads, intermediate 2048"},
      {"base", "12 layers, hidden 768, 12 heads, intermediate 3072"}};
  for (const auto& [size, expected] : sizes) {
    INFO(size);
    require_success(init(vocab, folder / size, {"--size", size}));
    CHECK_THAT(require_success(run_binary({"inspect", folder / size})),
               Contains("model: bert, " + expected + ", vocabulary 16, 512 positions"));
    fs::remove_all(folder / size);
  }
}

TEST_CASE("init refuses what it cannot make a checkpoint of, and writes nothing") {
  const TempFolder folder;
  const std::string good = folder.write("vocab.txt", TinyCheckpoint().vocab_text());
  fs::create_directory(folder / "used");
  folder.write("used/notes.txt", "mine");
  struct Case {
    std::string vocab;
    std::string output;
    std::vector<std::string> more;
    int exit_code;
    std::string expected;
  };
  const auto vocab = [&](const std::string& name, const std::string& text) { return folder.write(name, text); };
  const std::vector<Case> cases = {
      {good, "used", {}, 2, "used is not empty"},
      {good, "vocab.txt", {}, 2, "vocab.txt is a file"},
      {good, "new", {"--size", "huge"}, 2, "'huge' is unknown; known: tiny, mini, small, base"},
      {good, "new", {"--family", "gpt"}, 2, "gpt is not in this build; known: bert"},
      {good, "new", {"--seed", "-1"}, 2, "--seed"},
      {good, "new", {"--seed", "x"}, 2, "--seed"},
      {good, "new", {"--sizes", "tiny"}, 2, "did you mean --size?"},
      {folder / "absent.txt", "new", {}, 3, "absent.txt"},
      {folder.path(), "new", {}, 3, "it is a folder"},
      {vocab("empty.txt", ""), "new", {}, 3, "empty.txt: the vocabulary is empty"},
      {vocab("short.txt", "[PAD]\n[UNK]\n[MASK]\na\n"), "new", {}, 3, "not found in the vocabulary: [CLS], [SEP]"},
      {vocab("lower.txt", "[pad]\n[unk]\n[cls]\n[sep]\n[mask]\na\n"),
       "new",
       {},
       3,
       "[PAD], [UNK], [CLS], [SEP], [MASK]"},
      {vocab("twice.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\na\n"),
       "new",
       {},
       3,
       "twice.txt:8: the token \"a\" is already in line 6"},
      {vocab("blank.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n\na\n"), "new", {}, 3, "blank.txt:6: an empty line"},
      {vocab("latin.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ncaf\xe9\n"), "new", {}, 3, "latin.txt:6: not UTF-8"},
      {vocab("mark.txt", "\xEF\xBB\xBF[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"), "new", {}, 3, "byte order mark"},
      {vocab("pointer.txt", "version https://git-lfs.github.com/spec/v1\noid x\nsize 7\n"), "new", {}, 3, "Git LFS"},
  };
  for (const Case& c : cases) {
    const RunResult result = init(c.vocab, folder / c.output, c.more);
    INFO(c.expected << "\n" << result.err);
    CHECK(result.exit_code == c.exit_code);
    CHECK_THAT(result.err, Contains(c.expected));
    CHECK_FALSE(fs::exists(folder / "new"));
    CHECK_FALSE(fs::exists(folder / "new.tmp"));
  }
  CHECK(read_file(folder / "used/notes.txt") == "mine");
  CHECK_THAT(run_binary({"init", "--output", folder / "new"}).err, Contains("init needs --vocab FILE"));
  CHECK_THAT(run_binary({"init", "--vocab", good}).err, Contains("init needs --output DIR"));
}

// The texts of data/zh, one a line.
std::string chinese_texts() {
  std::string texts;
  std::istringstream lines(read_file("data/zh/dev.tsv"));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) texts += line.substr(line.find('\t') + 1) + "\n";
  return texts + "BERT 模型 Übung café ABC123\n";
}

TEST_CASE("a new Chinese checkpoint is inspected, tokenizes, trains and loads in transformers") {
  const auto vocab = shared_path("data/bert_vocabs/bert-base-chinese-vocab.txt");
  const auto python = vocab ? python_path() : std::nullopt;
  if (!python) return;
  const TempFolder folder;
  const std::string checkpoint = folder / "checkpoint";
  require_success(init(*vocab, checkpoint, {"--seed", "7"}));
  CHECK_THAT(require_success(run_binary({"inspect", checkpoint})),
             Contains("100 % of the encoder") && Contains("vocabulary 21,128") && !Contains("ignored:") &&
                 Contains("new: classifier.weight") && !Contains("new: pooler"));

  const std::string texts = folder.write("texts.txt", chinese_texts());
  const std::string ids = folder.write(
      "ids.txt", require_success(run_binary({"tokenize", "--ids", "--model", checkpoint, "--data", texts})));
  const RunResult judged =
      run_program(*python, {.arguments = {"tests/golden/check_new_checkpoint.py", checkpoint, texts, ids}});
  INFO(judged.out << judged.err);
  CHECK(judged.exit_code == 0);

  require_success(run_binary(
      {"--config", folder.write("c.yaml", "model: {checkpoint: " + checkpoint + ", max_length: 48}\ndata: {train: " +
                                              fs::absolute("data/zh/train.tsv").string() +
                                              ", dev: " + fs::absolute("data/zh/dev.tsv").string() +
                                              "}\ntrain: {max_steps: 12}\noutput: {dir: run}\n")}));
  ReloadCheck check;
  check.add(folder / "run/best", "data/zh/dev.tsv", {"text"});
  check.run(*python);
}

}  // namespace
}  // namespace bertft::test
