// Reads tab-separated columns, and plain text as the case of a single column.
#pragma once

#include <string>

#include "data/columns.h"
#include "data/table.h"

namespace bertft {

// The dialect: cells are separated by one tab, rows by LF or CR LF (mixed, too); no quoting and no escapes, so a quote
// is text; a byte order mark at the start is removed; the last line needs no LF. Invalid UTF-8 is replaced by U+FFFD
// and counted in notes(). A NUL is text. "NA", "null" and the empty cell are texts. An empty line is a row of a single
// empty text where there is one column; with more columns, empty lines at the end of the file are dropped and counted.
// Throws DataError that gathers all faults: rows with another number of columns than the header (or line 1), rows
// equal to the header line. No row at all is an error, too.
Table read_tsv(const std::string& path, std::string content, const TableRequest& request);

}  // namespace bertft
