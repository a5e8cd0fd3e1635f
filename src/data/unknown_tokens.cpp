#include "data/unknown_tokens.h"

#include <algorithm>
#include <string>

#include "tokenize/tokenizer.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

constexpr size_t kShownCharacters = 10;

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

}  // namespace

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

}  // namespace bertft
