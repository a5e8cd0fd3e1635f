// Which characters of texts the vocabulary cannot express.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/data_notes.h"

namespace bertft {

class Tokenizer;

// Occurrences by code point.
using CharacterCounts = std::unordered_map<char32_t, int64_t>;

void count_characters(std::string_view text, CharacterCounts& counts);

// Those that are in no piece of the vocabulary: the most frequent first (equal ones by code point), at most ten.
std::vector<UnknownCharacter> most_frequent_unknown(const CharacterCounts& counts, const Tokenizer& tokenizer);

}  // namespace bertft
