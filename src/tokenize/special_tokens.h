// Tokens that are found in the text itself before it is normalized ("[MASK]" written by a user, tokens added to a
// vocabulary), with the matching rules of the reference's AddedVocabulary.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tokenize/bert_normalizer.h"
#include "tokenize/vocab.h"

namespace bertft {

// Defaults are those of the reference for a token given by its text alone and known to be special.
struct AddedToken {
  std::string content;
  bool single_word = false;  // only where no word character touches it
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // ... and behind it
  bool normalized = false;   // looked for in the normalized text, in normalized form
  bool special = true;

  bool operator==(const AddedToken&) const = default;
};

// Which of the named tokens play which part, as ids.
struct SpecialIds {
  int32_t pad = -1;
  int32_t unk = -1;
  int32_t cls = -1;
  int32_t sep = -1;
  int32_t mask = -1;  // -1: the tokenizer has none
};

// Finds, leftmost and then longest first, where any of some patterns occurs. Meant for a handful of patterns; a text
// without their first bytes costs one scan.
class PatternSet {
 public:
  void add(std::string pattern, int32_t id);
  bool empty() const { return patterns_.empty(); }

  struct Match {
    size_t begin;
    size_t end;
    int32_t id;
  };
  // The first match at or after `from`; false when there is none.
  bool find(std::string_view text, size_t from, Match* match) const;

 private:
  struct Pattern {
    std::string text;
    int32_t id;
  };
  size_t next_candidate(std::string_view text, size_t from) const;

  std::vector<Pattern> patterns_;  // longest first
  std::array<bool, 256> is_first_byte_{};
  int first_byte_ = -1;  // when all patterns begin with the same byte: that byte
};

// The added tokens of one tokenizer. Immutable once built by add() and finish().
class AddedTokens {
 public:
  // Adds tokens in order. A token that the vocabulary has keeps its id, others are numbered after all that exist.
  void add(const std::vector<AddedToken>& tokens, const Vocab& vocab);

  // Builds the patterns; call once after the last add(). Throws DataError when a normalized token becomes empty.
  void finish(const BertNormalizer& normalizer);

  // The id of a token among the added ones or in the vocabulary; -1 when it is in neither.
  int32_t find(std::string_view content, const Vocab& vocab) const;

  // The content of an added token's id; nullptr for other ids.
  const std::string* content(int32_t id) const;

  // Every token with its id and flags as text, for hashing.
  std::string describe() const;

  int32_t max_id() const { return by_id_.empty() ? -1 : by_id_.rbegin()->first; }
  bool has_normalized() const { return !normalized_patterns_.empty(); }

  // A piece of a text: an added token (id >= 0) or ordinary text (id -1).
  struct Span {
    std::string_view text;
    int32_t id;
  };
  enum class Stage { kRaw, kNormalized };
  // Splits `text` at the tokens of one stage; spans are appended to `*spans`. `keep_special_text`: special tokens are
  // left as ordinary text (split_special_tokens of the reference).
  void split(std::string_view text, Stage stage, bool keep_special_text, std::vector<Span>* spans) const;

 private:
  std::map<std::string, int32_t, std::less<>> id_of_;
  std::map<int32_t, AddedToken> by_id_;
  std::vector<AddedToken> special_;  // in the order given, first version of each
  std::vector<AddedToken> ordinary_;
  PatternSet raw_patterns_;
  PatternSet normalized_patterns_;
};

}  // namespace bertft
