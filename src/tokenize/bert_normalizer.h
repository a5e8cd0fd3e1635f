// Text -> words, as the reference's BertNormalizer followed by its BertPreTokenizer: clean, isolate CJK ideographs,
// strip accents, lower-case, split at white space and punctuation. One pass, no allocation per word; plain ASCII is
// fastest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenize/options.h"

namespace bertft {

// Receives the words of a text in order.
class WordVisitor {
 public:
  virtual ~WordVisitor() = default;
  // `word` is normalized UTF-8 of `characters` characters, valid during the call only. Return false to stop.
  virtual bool word(std::string_view word, int32_t characters) = 0;
};

// Immutable after construction; all functions may run in several threads at once. Bytes that are not UTF-8 count as
// U+FFFD (see utf8.h). Source: normalizers/bert.rs and pre_tokenizers/bert.rs of huggingface/tokenizers.
class BertNormalizer {
 public:
  explicit BertNormalizer(const NormalizerOptions& options);

  // Calls `visitor` for each word until it returns false. `buffer` is scratch space, given so that it can be reused.
  void for_each_word(std::string_view text, std::string* buffer, WordVisitor* visitor) const;

  // The normalized text, not yet split.
  std::string normalize(std::string_view text) const;

  const NormalizerOptions& options() const { return options_; }

 private:
  template <class Sink>
  class Pass;

  // What becomes of a character, in one number: a kind in the upper bits, the resulting character in the lower 21.
  enum Kind : uint32_t {
    kWordChar = 0,  // goes into the current word
    kIsolated,      // punctuation: a word of its own
    kIdeograph,     // blanks around it
    kBlank,         // ends a word; the resulting character is what normalize() shows
    kDropped,       // vanishes
    kComplex,       // needs Pass::complex: several characters, or a mark that takes part in reordering
  };
  static constexpr uint32_t kKindShift = 21;
  static constexpr uint32_t kCodeMask = (1U << kKindShift) - 1;
  static constexpr char32_t kTableSize = 0x20000;  // above: CJK extensions and rare things, resolved on demand

  uint32_t resolve(char32_t code) const;
  uint32_t entry(char32_t code) const { return code < kTableSize ? table_[code] : resolve(code); }

  NormalizerOptions options_;
  std::vector<uint32_t> table_;        // [kTableSize]
  bool is_ascii_word_char_[256] = {};  // false for every byte above 0x7F
  char ascii_lower_[128] = {};
};

// All words of a text: for tests and tools.
std::vector<std::string> words_of(const BertNormalizer& normalizer, std::string_view text);

}  // namespace bertft
