// Reads columns with a delimiter between them and no quoting (TSV), and plain text as the case of a single column.
#pragma once

#include "data/record_reader.h"

namespace bertft {

// The dialect: cells are separated by one delimiter, rows by LF or CR LF (mixed, too); no quoting and no escapes, so a
// quote is text; delimiters in a row enclose an empty cell; behind `max_splits` of them (0: no limit) the rest of the
// line is the last cell. A NUL is text. "NA", "null" and the empty cell are texts.
std::unique_ptr<RecordReader> delimited_reader(LineReader lines, char delimiter, int64_t max_splits);

}  // namespace bertft
