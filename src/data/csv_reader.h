// Reads comma-separated values as RFC 4180 describes them.
#pragma once

#include "data/record_reader.h"

namespace bertft {

// The dialect: a cell that begins with a quote ends at the next single quote; inside, two quotes stand for one, and
// delimiters, CR and LF are text, kept as they are. Behind the closing quote only a delimiter or the end of the line
// may come. Rows end in LF or CR LF. A quote inside a cell that does not begin with one is text, as are blanks around
// cells. An open quote runs over at most kLongestQuotedBytes of further lines. A record that breaks these rules is a
// fault that names the line on which its quote opened, and reading goes on with the line behind its first one, so that
// one stray quote costs one row and not the rest of the file.
std::unique_ptr<RecordReader> csv_reader(LineReader lines, char delimiter);

inline constexpr size_t kLongestQuotedBytes = 16 << 20;

}  // namespace bertft
