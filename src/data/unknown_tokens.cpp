#include "data/unknown_tokens.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tokenize/tokenizer.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

constexpr size_t kShownCharacters = 10;
constexpr int64_t kSearchedRows = 10'000;

using CharacterCounts = std::unordered_map<char32_t, int64_t>;

bool has_unknown(const Tokenizer& tokenizer, const std::string& text) {
  const std::vector<int32_t> ids = tokenizer.ids_without_special(text);
  return std::find(ids.begin(), ids.end(), tokenizer.unk_id()) != ids.end();
}

// Unknown both as a word of its own and inside a word.
bool is_unknown(const Tokenizer& tokenizer, char32_t code) {
  std::string text;
  append_utf8(code, &text);
  return has_unknown(tokenizer, text) && has_unknown(tokenizer, "a" + text);
}

void count_characters(std::string_view text, CharacterCounts& counts) {
  for (size_t at = 0; at < text.size();) {
    const DecodedChar next = decode_utf8(text, at);
    ++counts[next.code];
    at += next.bytes;
  }
}

std::vector<UnknownCharacter> most_frequent_unknown(const CharacterCounts& counts, const Tokenizer& tokenizer) {
  std::vector<UnknownCharacter> sorted;
  for (const auto& [code, count] : counts) sorted.push_back({code, count});
  std::sort(sorted.begin(), sorted.end(), [](const UnknownCharacter& a, const UnknownCharacter& b) {
    return a.count != b.count ? a.count > b.count : a.code < b.code;
  });
  std::vector<UnknownCharacter> unknown;
  for (const UnknownCharacter& one : sorted) {
    if (unknown.size() == kShownCharacters) break;
    if (is_unknown(tokenizer, one.code)) unknown.push_back(one);
  }
  return unknown;
}

}  // namespace

UnknownTokens count_unknown(const Dataset& dataset, const Tokenizer& tokenizer) {
  UnknownTokens unknown;
  CharacterCounts counts;
  for (int64_t row = 0; row < dataset.rows(); ++row) {
    const auto ids = dataset.ids(row);
    const int64_t here = std::count(ids.begin(), ids.end(), tokenizer.unk_id());
    if (here == 0) continue;
    unknown.tokens += here;
    if (++unknown.rows > kSearchedRows) continue;
    count_characters(dataset.table().text(row), counts);
    count_characters(dataset.table().text_pair(row), counts);
  }
  unknown.characters = most_frequent_unknown(counts, tokenizer);
  return unknown;
}

}  // namespace bertft
