// Oddities of the texts of a table that make a training or a score worth less than it looks.
#pragma once

#include <cstdint>

#include "data/table.h"

namespace bertft {

struct TextCounts {
  int64_t empty = 0;           // rows whose text (or one text of whose pair) is empty or blank
  int64_t duplicates = 0;      // rows whose text (pair) occurred in an earlier row
  int64_t contradictions = 0;  // of them, those whose label differs from that of the first such row
};

TextCounts count_texts(const Table& table);

// Rows of `other` whose text (pair) occurs in `training`, too.
int64_t count_overlap(const Table& training, const Table& other);

}  // namespace bertft
