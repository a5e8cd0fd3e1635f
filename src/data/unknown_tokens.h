// How much of the texts the vocabulary cannot express, and which characters are to blame.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"

namespace bertft {

class Tokenizer;

// A character that is in no piece of the vocabulary.
struct UnknownCharacter {
  char32_t code = 0;
  int64_t count = 0;  // occurrences in the rows that were searched
};

struct UnknownTokens {
  int64_t tokens = 0;  // [UNK] among the ids
  int64_t rows = 0;    // with at least one
  // The most frequent first (equal ones by code point), at most ten, from the first 10,000 rows with [UNK]. Words can
  // be unknown for other reasons, such as their length: then there are fewer.
  std::vector<UnknownCharacter> characters;
};

UnknownTokens count_unknown(const Dataset& dataset, const Tokenizer& tokenizer);

}  // namespace bertft
