// Data files whole in memory, as one table: for small files and tests. See row_stream.h for all others.
#pragma once

#include <string>

#include "data/columns.h"
#include "data/row_stream.h"
#include "data/table.h"

namespace bertft {

// All rows of a file (a pattern, a folder of texts). Throws as open_rows and RowStream::next.
Table read_table(const std::string& path, const TableRequest& request);

// The same for content that is in memory already; `path` is what messages call it.
Table parse_table(const std::string& path, std::string content, const TableRequest& request);

}  // namespace bertft
