// Choices of the tokenizers that a user can make or a tokenizer file can carry, with the defaults of the reference.
// Plain data: everything else of this folder takes these structs, and config shows the two enums as model.compat and
// model.truncation.
#pragma once

#include <cstdint>

namespace bertft {

// Whose ids are reproduced; docs/tokenizer.md lists every difference.
enum class Compat {
  kHf,      // the `tokenizers` package as AutoTokenizer sets it up (the version is in tests/golden/requirements.txt)
  kGoogle,  // tokenization.py and run_classifier.py of google-research/bert
};

// What is cut when a text or pair is longer than max_length.
enum class Truncation {
  kLongestFirst,  // the longer text of a pair first, then both alike
  kOnlyFirst,     // the first text only; a second text that leaves no room for it is an error
  kHeadTail,      // lengths as kLongestFirst, but each cut text keeps its first quarter and its end
};

// The four switches of the reference's BertNormalizer.
struct NormalizerOptions {
  bool clean_text = true;            // drop control characters, make white space blanks
  bool handle_chinese_chars = true;  // each CJK ideograph is a word of its own
  bool strip_accents = true;         // decompose (NFD), drop nonspacing marks
  bool lower_case = true;
};

struct EncodeOptions {
  int32_t max_length = 0;  // ids in all, special tokens included; 0 = no limit. Below 2 (pairs: 3) is an error
  Truncation truncation = Truncation::kLongestFirst;
  bool count_exactly = false;  // true: untruncated_length is exact, at the cost of reading on behind the cut
};

}  // namespace bertft
