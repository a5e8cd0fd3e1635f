// Finds out whether a file has a header line and which of its columns hold text, pair, label and id.
// Independent of the format: readers hand over the cells of line 1.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/options.h"
#include "data/table.h"

namespace bertft {

// What to do about a row that does not have the form of its file.
enum class BadRow {
  kError,  // gather all of a file, then throw
  kSkip,   // leave the row out, count it
  kKeep,   // keep and mark it, so that there is one row for each of the input (prediction)
};

// What to do about invalid UTF-8 and other parts that are no characters.
enum class InvalidText {
  kReplace,  // by U+FFFD, counted
  kError,    // the row is a fault, whatever BadRow says
  kSkip,     // the row is left out and counted; kept and marked with BadRow::kKeep
};

// What the caller wants of a file. The options of the same names (data/options.h) say more.
struct TableRequest {
  ColumnNames columns;
  std::string format = "auto";  // auto, tsv, csv, jsonl
  std::string header = "auto";  // auto, true, false
  std::string delimiter = "";   // one character, or \t written as two; "" = that of the format
  int64_t max_splits = 0;       // 0 = no limit
  std::string schema = "";      // "" = none
  std::string encoding = "utf-8";
  InvalidText invalid_utf8 = InvalidText::kReplace;
  BadRow bad_row = BadRow::kError;
  int64_t max_rows = 0;               // of all files of a request together; 0 = all
  bool needs_label = false;           // false (prediction): a label or id column may be missing
  bool is_pair_optional = false;      // true: a file without the text_pair column has single texts
  bool is_plain_text_allowed = true;  // false: the text's column was named on purpose, so it must be there
  bool is_command_line = false;       // messages call options as evaluate and predict do: see option_name
  size_t chunk_bytes = 8 << 20;       // text of a chunk; see RowStream
  size_t block_bytes = 1 << 20;       // text that is read at once
};

TableRequest table_request(const DataOptions& options, bool needs_label);

// An option as messages name it: "data.columns.text", or "--columns text=" on a command line; "data.format",
// "--input-format"; "data.max_splits", "--max-splits".
std::string option_name(const TableRequest& request, const std::string& key);

struct ColumnPlan {
  bool has_header = false;
  bool is_plain_text = false;   // no columns at all: each line is one text, tabs included
  bool is_from_schema = false;  // data.schema gives the names
  std::string reason = "";      // why so, for the log
  std::vector<std::string> names = {};
  ColumnRoles roles = {};
};

// Rules, with header auto:
//   - data.schema gives the names: no header line, unless line 1 consists of these names;
//   - all wanted columns are given as positions: no header line;
//   - at least one wanted name stands in line 1: it is the header, and the missing ones are an error;
//   - only a text is wanted, plain text is allowed and line 1 has a single cell: plain text;
//   - else an error that names the columns found and wanted.
// A name that is no column of the header but a number is a position counted from 1.
// Throws DataError naming `path`, and ConfigError when one column is asked to be two things.
ColumnPlan plan_columns(const std::string& path, std::span<const std::string_view> first_line,
                        const TableRequest& request);

// The same for a file whose columns are known by name without a header line, such as the keys of JSON. Names are never
// positions. `what` is what has them ("the first rows have the keys"), for messages and as the reason.
ColumnPlan plan_named_columns(const std::string& path, const std::vector<std::string>& names, const std::string& what,
                              const TableRequest& request);

// The names in `request` that must be there: text, the pair if one is named, label and id if a label is needed.
std::vector<std::string> required_columns(const TableRequest& request);

// All names in `request`, those of columns that may be missing, too.
std::vector<std::string> named_columns(const TableRequest& request);

// "3" -> 2. Nothing when `name` is no number from 1 on.
std::optional<int> position_index(const std::string& name);

}  // namespace bertft
