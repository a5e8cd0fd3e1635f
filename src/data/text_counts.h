// Oddities of the texts of a data set that make a training or a score worth less than it looks. Texts are compared by
// their 64-bit hashes: among a million of them two different ones are taken for equal once in 37 million times.
#pragma once

#include <cstdint>

#include "data/dataset.h"

namespace bertft {

struct TextCounts {
  int64_t empty = 0;           // rows whose text (or one text of whose pair) is empty or blank
  int64_t duplicates = 0;      // rows whose text (pair) occurred in an earlier row
  int64_t contradictions = 0;  // of them, those whose label cell differs from that of the first such row
};

// REQUIRES a data set that knows its text hashes.
TextCounts count_texts(const Dataset& dataset);

// Rows of `other` whose text (pair) occurs in `training`, too.
int64_t count_overlap(const Dataset& training, const Dataset& other);

}  // namespace bertft
