// Reads JSON Lines: one object per line, whose keys are the columns.
#pragma once

#include "data/record_reader.h"

namespace bertft {

// Columns are the top-level keys of the first good row, in its order, then the wanted columns that are elsewhere: keys
// that only other rows among the first hundred have, and dotted paths ("meta.text": key `text` of the object under
// `meta`; a top-level key that holds the dot itself comes first). Cells: strings without their escapes; numbers as they
// are written (1 and 1.0 differ); true and false; objects and arrays as JSON without blanks; null, or no such key: a
// missing cell. Of a key that occurs twice in a row the last value counts. Half of a surrogate pair is a kInvalidByte
// in the cell. An array at the top is refused.
std::unique_ptr<RecordReader> jsonl_reader(LineReader lines);

}  // namespace bertft
