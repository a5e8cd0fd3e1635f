// What is kept of texts and pairs that are too long, against the reference, and the errors of limits that cannot hold.
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "digests.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tokenize/tokenizer.h"
#include "tokenize/truncation.h"

namespace bertft::test {
namespace {

const std::string kSpecial = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";

// Letters a-z have the ids 5-30, A-Z 31-56.
Tokenizer letters(const std::string& side, Compat compat) {
  std::string vocab = kSpecial;
  for (char c = 'a'; c <= 'z'; ++c) vocab += std::string(1, c) + '\n';
  for (char c = 'A'; c <= 'Z'; ++c) vocab += std::string(1, c) + '\n';
  const TempFolder folder;
  folder.write("vocab.txt", vocab);
  folder.write("tokenizer_config.json", R"({"do_lower_case": false, "truncation_side": ")" + side + R"("})");
  return Tokenizer::load(folder.path(), compat);
}

std::string text_of(char first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::string(1, static_cast<char>(first + i)) + ' ';
  return text;
}

// One line of truncation_cases.txt.
struct Case {
  std::string rule, side;
  int max_length = 0;
  int a = 0;
  std::string b, kept_a, kept_b;
};

std::vector<Case> read_cases() {
  std::istringstream in(read_file(golden_path("truncation_cases.txt")));
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Case item;
    words >> item.rule >> item.side >> item.max_length >> item.a >> item.b >> item.kept_a >> item.kept_b;
    cases.push_back(item);
  }
  return cases;
}

// `kept` ids of the `total` from `first` on, at the side that is kept.
std::vector<int32_t> kept_ids(int first, int total, int kept, const std::string& side) {
  std::vector<int32_t> ids(static_cast<size_t>(kept));
  std::iota(ids.begin(), ids.end(), side == "right" ? first : first + total - kept);
  return ids;
}

std::vector<int32_t> expected_ids(const Case& item) {
  std::vector<int32_t> ids = {2};
  for (const int32_t id : kept_ids(5, item.a, std::stoi(item.kept_a), item.side)) ids.push_back(id);
  ids.push_back(3);
  if (item.b == "-") return ids;
  for (const int32_t id : kept_ids(31, std::stoi(item.b), std::stoi(item.kept_b), item.side)) ids.push_back(id);
  ids.push_back(3);
  return ids;
}

}  // namespace

TEST_CASE("texts and pairs are cut as the reference cuts them") {
  const Tokenizer right = letters("right", Compat::kHf);
  const Tokenizer left = letters("left", Compat::kHf);
  const Tokenizer google = letters("right", Compat::kGoogle);
  const std::vector<Case> cases = read_cases();
  REQUIRE(cases.size() > 900);
  for (const Case& item : cases) {
    const Tokenizer& tokenizer = item.rule == "google" ? google : item.side == "right" ? right : left;
    EncodeOptions options;
    options.max_length = item.max_length;
    options.truncation = item.rule == "only_first" ? Truncation::kOnlyFirst : Truncation::kLongestFirst;
    const std::string a = text_of('a', item.a);
    const int b = item.b == "-" ? 0 : std::stoi(item.b);
    const auto encode = [&] {
      return item.b == "-" ? tokenizer.encode(a, options) : tokenizer.encode_pair(a, text_of('A', b), options);
    };
    INFO(item.rule << " " << item.side << " " << item.max_length << " " << item.a << " " << item.b);
    if (item.kept_a == "error") {
      CHECK_THROWS_AS(encode(), DataError);
      continue;
    }
    const Encoding encoding = encode();
    CHECK(encoding.ids == expected_ids(item));
    CHECK(encoding.token_types.size() == encoding.ids.size());
    const int all = item.a + b + (item.b == "-" ? 2 : 3);
    CHECK((encoding.untruncated_length == all ||
           (encoding.untruncated_length < all && encoding.untruncated_length > item.max_length)));
    options.count_exactly = true;
    CHECK(encode().untruncated_length == all);
    CHECK(encode().ids == encoding.ids);
  }
}

TEST_CASE("a pair without tokens in the second text") {
  CHECK(letters("right", Compat::kHf).encode_pair("a", " ", {}).ids == std::vector<int32_t>{2, 5, 3, 3});
  CHECK(letters("right", Compat::kHf).encode_pair("a", "", {}).token_types == std::vector<int32_t>{0, 0, 0, 1});
  CHECK(letters("right", Compat::kGoogle).encode_pair("a", " ", {}).ids == std::vector<int32_t>{2, 5, 3});
}

TEST_CASE("head_tail keeps the first quarter and the end") {
  CHECK(head_length(510) == 128);
  CHECK(head_length(1) == 1);
  CHECK(head_length(0) == 0);
  const Tokenizer tokenizer = letters("right", Compat::kHf);
  EncodeOptions options;
  options.truncation = Truncation::kHeadTail;
  options.max_length = 8;
  CHECK(tokenizer.encode(text_of('a', 10), options).ids == std::vector<int32_t>{2, 5, 6, 11, 12, 13, 14, 3});
  CHECK(tokenizer.encode(text_of('a', 6), options).ids == std::vector<int32_t>{2, 5, 6, 7, 8, 9, 10, 3});
  options.max_length = 9;
  const Encoding pair = tokenizer.encode_pair(text_of('a', 10), text_of('A', 3), options);
  CHECK(pair.ids == std::vector<int32_t>{2, 5, 13, 14, 3, 31, 32, 33, 3});
  CHECK(pair.token_types == std::vector<int32_t>{0, 0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(pair.untruncated_length == 16);
}

TEST_CASE("a limit that cannot hold the special tokens is refused") {
  const Tokenizer tokenizer = letters("right", Compat::kHf);
  CHECK_THROWS_AS(tokenizer.encode("a", {.max_length = 1}), ConfigError);
  CHECK_THROWS_AS(tokenizer.encode_pair("a", "b", {.max_length = 2}), ConfigError);
  CHECK_THROWS_AS(tokenizer.encode("a", {.max_length = -5}), ConfigError);
  CHECK(tokenizer.encode("a", {.max_length = 2}).ids == std::vector<int32_t>{2, 3});
}

}  // namespace bertft::test
