// Reads a data file of any supported format into a Table. The one way in for train, evaluate and predict.
#pragma once

#include <string>

#include "data/columns.h"
#include "data/table.h"

namespace bertft {

// Reads a regular file whole. It is copied, not mapped: a file on shared storage that is cut while we run must not
// become a bus error.
// Throws DataError (unreadable file, faulty rows, no rows, a format that this build does not read), ConfigError (a
// request that cannot be met by any file).
Table read_table(const std::string& path, const TableRequest& request);

// The same for content that is in memory already, such as standard input; `path` is what messages call it.
Table parse_table(const std::string& path, std::string content, const TableRequest& request);

}  // namespace bertft
