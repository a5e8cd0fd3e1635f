// The rows of files, patterns and folders of texts in order, in bounded memory. The one way in for train, evaluate and
// predict.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/byte_source.h"
#include "data/columns.h"
#include "data/data_path.h"
#include "data/table.h"

namespace bertft {

class RowStream {
 public:
  virtual ~RowStream() = default;

  // The next rows as a table of their own; nullopt behind the last one. A table has about request.chunk_bytes of text
  // (one more record at most) and at least one row. Rows of several files may share one.
  // Throws DataError at the end of each file with all faults of that file, unless bad rows are skipped or kept; rows of
  // tables handed out before are then of no use. Throws DataError when there is no row at all.
  virtual std::optional<Table> next() = 0;

  // Known once the stream is open; the same for all its tables.
  virtual const std::vector<std::string>& columns() const = 0;
  virtual const ColumnRoles& roles() const = 0;
  // Of all files so far; complete when next() has returned nullopt.
  virtual const ReadNotes& notes() const = 0;
  // All files, as Table::files.
  virtual const std::vector<std::string>& files() const = 0;
};

// Opens the first file. `paths` as in find_data_paths; files are opened one behind the other, and their columns have to
// be those of the first. Throws DataError (unreadable file, unknown columns, other content), ConfigError (a request
// that no file can meet).
std::unique_ptr<RowStream> open_rows(const std::vector<std::string>& paths, const TableRequest& request);

// The same for one source, which messages call `name`.
std::unique_ptr<RowStream> open_rows(const std::string& name, std::unique_ptr<ByteSource> bytes,
                                     const TableRequest& request);

// Standard input, to its end.
std::unique_ptr<RowStream> stdin_rows(const TableRequest& request);

// All rows that are left in a stream.
Table read_rest(RowStream& stream);

}  // namespace bertft
