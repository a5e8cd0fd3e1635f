#include "tokenize/special_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "tokenize/unicode_tables.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

// The last character before `end`; end > 0.
DecodedChar char_before(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && end - at < 4 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  const DecodedChar found = decode_utf8(text.substr(0, end), at);
  if (at + found.bytes != end) return {kReplacementCharacter, 1, false};
  return found;
}

bool has(char32_t code, unicode::Flag flag) { return (unicode::char_class(code).flags & flag) != 0; }

bool touches_word(std::string_view text, size_t begin, size_t end) {
  const bool before = begin > 0 && has(char_before(text, begin).code, unicode::kWord);
  return before || (end < text.size() && has(decode_utf8(text, end).code, unicode::kWord));
}

size_t skip_space_left(std::string_view text, size_t begin) {
  while (begin > 0) {
    const DecodedChar before = char_before(text, begin);
    if (!has(before.code, unicode::kSpace)) break;
    begin -= before.bytes;
  }
  return begin;
}

size_t skip_space_right(std::string_view text, size_t end) {
  while (end < text.size()) {
    const DecodedChar next = decode_utf8(text, end);
    if (!has(next.code, unicode::kSpace)) break;
    end += next.bytes;
  }
  return end;
}

}  // namespace

void PatternSet::add(std::string pattern, int32_t id) {
  const unsigned char first = static_cast<unsigned char>(pattern[0]);
  first_byte_ = patterns_.empty() || first_byte_ == first ? first : -1;
  is_first_byte_[first] = true;
  // Of equal patterns the first one given wins, so it stays in front.
  const auto longer = [&](const Pattern& other) { return other.text.size() >= pattern.size(); };
  const auto place = std::find_if_not(patterns_.begin(), patterns_.end(), longer);
  patterns_.insert(place, {std::move(pattern), id});
}

size_t PatternSet::next_candidate(std::string_view text, size_t from) const {
  if (from >= text.size()) return text.size();
  if (first_byte_ >= 0) {
    const void* found = std::memchr(text.data() + from, first_byte_, text.size() - from);
    return found == nullptr ? text.size() : static_cast<size_t>(static_cast<const char*>(found) - text.data());
  }
  while (from < text.size() && !is_first_byte_[static_cast<unsigned char>(text[from])]) ++from;
  return from;
}

bool PatternSet::find(std::string_view text, size_t from, Match* match) const {
  if (patterns_.empty()) return false;
  for (size_t at = next_candidate(text, from); at < text.size(); at = next_candidate(text, at + 1)) {
    for (const Pattern& pattern : patterns_) {
      if (text.substr(at, pattern.text.size()) != pattern.text) continue;
      *match = {at, at + pattern.text.size(), pattern.id};
      return true;
    }
  }
  return false;
}

void AddedTokens::add(const std::vector<AddedToken>& tokens, const Vocab& vocab) {
  const auto is_known_special = [this](const std::string& content) {
    return std::any_of(special_.begin(), special_.end(), [&](const AddedToken& t) { return t.content == content; });
  };
  for (const AddedToken& token : tokens) {
    if (token.special && !token.content.empty() && !is_known_special(token.content)) special_.push_back(token);
  }
  for (const AddedToken& token : tokens) {
    const auto equals = [&](const auto& entry) { return entry.second == token; };
    if (token.content.empty() || std::any_of(by_id_.begin(), by_id_.end(), equals)) continue;
    int32_t id = find(token.content, vocab);
    if (id < 0) {
      int32_t largest = -1;
      for (const auto& [content, known_id] : id_of_) largest = std::max(largest, known_id);
      id = std::max(largest + 1, vocab.different_pieces());
    }
    id_of_[token.content] = id;
    by_id_[id] = token;
    if (!is_known_special(token.content)) ordinary_.push_back(token);
  }
}

void AddedTokens::finish(const BertNormalizer& normalizer) {
  for (const std::vector<AddedToken>* tokens : {&special_, &ordinary_}) {
    for (const AddedToken& token : *tokens) {
      const int32_t id = id_of_.find(token.content)->second;
      if (!token.normalized) {
        raw_patterns_.add(token.content, id);
        continue;
      }
      std::string pattern = normalizer.normalize(token.content);
      if (pattern.empty()) {
        throw DataError(
            fmt::format("added token \"{}\" (id {}) is empty after normalization and would match everywhere. "
                        "Remove it from the tokenizer files or set \"normalized\": false",
                        token.content, id));
      }
      normalized_patterns_.add(std::move(pattern), id);
    }
  }
}

int32_t AddedTokens::find(std::string_view content, const Vocab& vocab) const {
  const auto found = id_of_.find(content);
  return found != id_of_.end() ? found->second : vocab.find(content);
}

const std::string* AddedTokens::content(int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second.content;
}

std::string AddedTokens::describe() const {
  std::string text;
  for (const auto& [id, token] : by_id_) {
    text += fmt::format("{} {} {}{}{}{}{}\n", id, token.content, token.single_word, token.lstrip, token.rstrip,
                        token.normalized, token.special);
  }
  return text;
}

void AddedTokens::split(std::string_view text, Stage stage, bool keep_special_text, std::vector<Span>* spans) const {
  const PatternSet& patterns = stage == Stage::kRaw ? raw_patterns_ : normalized_patterns_;
  size_t done = 0;
  PatternSet::Match match;
  for (size_t from = 0; patterns.find(text, from, &match); from = match.end) {
    const AddedToken& token = by_id_.find(match.id)->second;
    if (keep_special_text && token.special) continue;
    if (token.single_word && touches_word(text, match.begin, match.end)) continue;
    size_t begin = match.begin;
    size_t end = match.end;
    if (token.lstrip) begin = std::max(skip_space_left(text, begin), done);
    if (token.rstrip) end = skip_space_right(text, end);
    if (done < begin) spans->push_back({text.substr(done, begin - done), -1});
    spans->push_back({text.substr(begin, end - begin), match.id});
    done = end;
  }
  if (done < text.size()) spans->push_back({text.substr(done), -1});
}

}  // namespace bertft
