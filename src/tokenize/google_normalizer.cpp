#include "tokenize/google_normalizer.h"

#include <algorithm>
#include <vector>

#include "tokenize/unicode_tables.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

using unicode::Mapped;
using unicode::Rules;
using Characters = std::vector<char32_t>;

bool has(char32_t code, unicode::Flag flag) { return (unicode::char_class(code).flags & flag) != 0; }

// Python's str.lower() on a capital sigma: the final form after a cased letter when none follows, case-ignorable
// characters on either side not counted.
bool is_final_sigma(const Characters& text, size_t at) {
  size_t before = at;
  while (before > 0 && has(text[before - 1], unicode::kCaseIgnorable)) --before;
  if (before == 0 || !has(text[before - 1], unicode::kCased)) return false;
  size_t after = at + 1;
  while (after < text.size() && has(text[after], unicode::kCaseIgnorable)) ++after;
  return after == text.size() || !has(text[after], unicode::kCased);
}

Characters lower(const Characters& text) {
  constexpr char32_t kCapitalSigma = 0x3A3;
  constexpr char32_t kFinalSigma = 0x3C2;
  Characters out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == kCapitalSigma && is_final_sigma(text, i)) {
      out.push_back(kFinalSigma);
      continue;
    }
    const Mapped mapped = unicode::lower_case(text[i], Rules::kGoogle);
    out.insert(out.end(), mapped.code, mapped.code + mapped.length);
  }
  return out;
}

uint8_t combining(char32_t code) { return unicode::char_class(code).combining_google; }

// NFD, then without nonspacing marks.
Characters strip_accents(const Characters& text) {
  Characters all;
  for (const char32_t code : text) {
    const Mapped mapped = unicode::decompose(code, Rules::kGoogle);
    all.insert(all.end(), mapped.code, mapped.code + mapped.length);
  }
  for (auto begin = all.begin(); begin != all.end();) {
    begin = std::find_if(begin, all.end(), [](char32_t code) { return combining(code) != 0; });
    const auto end = std::find_if(begin, all.end(), [](char32_t code) { return combining(code) == 0; });
    std::stable_sort(begin, end, [](char32_t a, char32_t b) { return combining(a) < combining(b); });
    begin = end;
  }
  std::erase_if(all, [](char32_t code) { return has(code, unicode::kGoogleMark); });
  return all;
}

// Finishes one token (a run without white space) and hands out its words.
class TokenSplitter {
 public:
  TokenSplitter(bool lower_case, WordVisitor* visitor) : lower_case_(lower_case), visitor_(*visitor) {}

  bool wants_more() const { return wants_more_; }

  void split(const Characters& token) {
    if (token.empty()) return;
    for (const char32_t code : lower_case_ ? strip_accents(lower(token)) : token) {
      const bool is_alone = has(code, unicode::kGooglePunct);
      if (is_alone) finish_word();
      append_utf8(code, &word_);
      ++characters_;
      if (is_alone) finish_word();
    }
    finish_word();
  }

 private:
  void finish_word() {
    if (characters_ > 0 && wants_more_) wants_more_ = visitor_.word(word_, characters_);
    word_.clear();
    characters_ = 0;
  }

  bool lower_case_;
  WordVisitor& visitor_;
  std::string word_;
  int32_t characters_ = 0;
  bool wants_more_ = true;
};

}  // namespace

void for_each_google_word(std::string_view text, bool lower_case, WordVisitor* visitor) {
  TokenSplitter splitter(lower_case, visitor);
  Characters token;
  for (size_t at = 0; at < text.size() && splitter.wants_more();) {
    const DecodedChar next = decode_utf8(text, at);
    at += next.bytes;
    if (has(next.code, unicode::kGoogleDrop)) continue;
    const bool is_ideograph = has(next.code, unicode::kGoogleCjk);
    if (is_ideograph || has(next.code, unicode::kGoogleSpace)) {
      splitter.split(token);
      token.clear();
    }
    if (is_ideograph) {
      splitter.split({next.code});
    } else if (!has(next.code, unicode::kGoogleSpace)) {
      token.push_back(next.code);
    }
  }
  splitter.split(token);
}

}  // namespace bertft
