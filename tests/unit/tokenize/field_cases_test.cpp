// Situations of real users (B01, B04, B06, B15, B18 of the field cases): the right ids, or a refusal that says why.
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "tests/support/shared_data.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tokenize/tokenizer.h"

namespace bertft::test {
namespace {

using Ids = std::vector<int32_t>;

Tokenizer published(const std::string& data, const std::string& vocab, bool lower_case) {
  const TempFolder folder;
  folder.write("vocab.txt", read_file(data + "/bert_vocabs/bert-base-" + vocab + "-vocab.txt"));
  folder.write("tokenizer_config.json", lower_case ? R"({"do_lower_case": true})" : R"({"do_lower_case": false})");
  return Tokenizer::load(folder.path(), Compat::kHf);
}

std::vector<std::string> lines_of(const std::string& path) {
  const std::string content = read_file(path);
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < content.size();) {
    const size_t end = std::min(content.find('\n', begin), content.size());
    lines.push_back(content.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

void check_ids(const Tokenizer& tokenizer, const std::vector<std::string>& texts, const std::vector<Ids>& expected) {
  REQUIRE(texts.size() == expected.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    INFO(texts[i]);
    CHECK(tokenizer.encode(texts[i], {}).ids == expected[i]);
  }
}

// The message of the DataError that loading `folder` throws.
std::string refusal(const std::string& folder) {
  try {
    Tokenizer::load(folder, Compat::kHf);
  } catch (const DataError& error) {
    return error.what();
  }
  return "(loaded)";
}

void check_contains(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    INFO(text << "\nlacks " << part);
    CHECK(text.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("B01: scripts under lower-casing") {
  const auto file = shared_path("field_cases/B01/texts.txt");
  const auto data = shared_path("data");
  if (!file || !data) return;
  const std::vector<std::string> texts = lines_of(*file);
  check_ids(published(*data, "uncased", true), texts,
            {{101, 1700, 30257, 30233, 30197, 30245, 30263, 102},
             {101, 1469, 30006, 30021, 29991, 30017, 30022, 29992, 30006, 30022, 102},
             {101, 13746, 2015, 102},
             {101, 1331, 29869, 29878, 1315, 29877, 29859, 29876, 29865, 102},
             {101, 100, 102},
             {101, 1051, 1102, 4887, 102}});
  const std::vector<std::string> some = {texts[0], texts[1], texts[3]};
  check_ids(
      published(*data, "multilingual-cased", true), some,
      {{101, 1994, 36559, 10634, 76145, 11668, 102}, {101, 100, 102}, {101, 889, 20161, 14117, 13537, 18351, 102}});
  check_ids(published(*data, "multilingual-cased", false), some,
            {{101, 1995, 36559, 10634, 71110, 11668, 102},
             {101, 9954, 118663, 41919, 102},
             {101, 40265, 20161, 14117, 13537, 85002, 14018, 102}});
}

TEST_CASE("B04: Chinese look-alike characters") {
  const auto file = shared_path("field_cases/B04/texts.txt");
  const auto data = shared_path("data");
  if (!file || !data) return;
  const std::vector<std::string> texts = lines_of(*file);
  std::vector<Ids> expected = {{101, 100, 4514, 102},  {101, 100, 102},       {101, 100, 1384, 102},
                               {101, 8031, 1384, 102}, {101, 405, 1384, 102}, {101, 100, 2399, 102},
                               {101, 100, 2356, 102}};
  check_ids(published(*data, "chinese", false), texts, expected);
  expected[5] = {101, 7983, 2399, 102};  // canonical decomposition, not compatibility
  check_ids(published(*data, "chinese", true), texts, expected);
}

TEST_CASE("B06: special tokens at other ids and under other names") {
  const auto root = shared_path("field_cases/B06");
  if (!root) return;
  const Tokenizer moved = Tokenizer::load(*root + "/moved", Compat::kHf);
  check_ids(moved, {"the cell divides", "the [SEP] cell zebra"}, {{5, 3, 4, 7, 8, 6}, {5, 3, 6, 4, 2, 6}});
  CHECK(moved.encode_pair("the cell", "cell divide", {}).ids == Ids{5, 3, 4, 6, 4, 7, 6});
  CHECK(moved.special_ids().pad == 0);
  CHECK(moved.special_ids().mask == 9);

  const Tokenizer renamed = Tokenizer::load(*root + "/renamed", Compat::kHf);
  check_ids(renamed, {"the cell divides", "the </s> cell zebra", "the [SEP] cell"},
            {{0, 5, 6, 7, 8, 2}, {0, 5, 2, 6, 3, 2}, {0, 5, 14, 16, 15, 6, 2}});
  CHECK(renamed.encode_pair("the cell", "cell divide", {}).ids == Ids{0, 5, 6, 2, 6, 7, 2});
  check_ids(Tokenizer::load(*root + "/renamed_map", Compat::kHf), {"the cell zebra"}, {{0, 5, 6, 3, 2}});
}

TEST_CASE("B06: special tokens that are not in the vocabulary are named") {
  const auto root = shared_path("field_cases/B06");
  if (!root) return;
  for (const char* name : {"missing", "lowercase"}) {
    const std::string message = refusal(*root + "/" + name);
    check_contains(message,
                   {"vocab.txt", "[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]", "not found", "tokenizer_config.json"});
  }
  check_contains(refusal(*root + "/missing"), {"<unk>", "<pad>", "<s>", "</s>"});
}

TEST_CASE("B15: a file that is no vocabulary") {
  const auto pointer = shared_path("field_cases/B15/pointer.txt");
  if (!pointer) return;
  const TempFolder folder;
  folder.write("vocab.txt", read_file(*pointer));
  check_contains(refusal(folder.path()), {"vocab.txt", "Git LFS pointer", "437999801", "git lfs pull"});
}

TEST_CASE("B18: tokenizers that are not WordPiece are refused by class and file") {
  const auto root = shared_path("field_cases/B18");
  if (!root) return;
  check_contains(refusal(*root + "/mecab"), {"BertJapaneseTokenizer", "mecab", "config.json", "BertTokenizer"});
  check_contains(refusal(*root + "/config_only"),
                 {"BertJapaneseTokenizer", "config_only/config.json", "BertTokenizer"});
  check_contains(refusal(*root + "/xlmr"), {"XLMRobertaTokenizer", "xlmr/tokenizer_config.json", "BertTokenizer"});
}

}  // namespace bertft::test
