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

// What the caller wants of a file.
struct TableRequest {
  ColumnNames columns;
  std::string format = "auto";    // auto, tsv
  std::string header = "auto";    // auto, true, false
  int64_t max_rows = 0;           // 0 = all
  bool needs_label = false;       // false (prediction): a label or id column may be missing
  bool is_pair_optional = false;  // true: a file without the text_pair column has single texts
};

TableRequest table_request(const DataOptions& options, bool needs_label);

struct ColumnPlan {
  bool has_header = false;
  bool is_plain_text = false;  // no columns at all: each line is one text, tabs included
  std::string reason = "";     // why so, for the log
  std::vector<std::string> names = {};
  ColumnRoles roles = {};
};

// Rules, with header auto:
//   - all wanted columns are given as positions: no header line;
//   - at least one wanted name stands in line 1: it is the header, and the missing ones are an error;
//   - only a text is wanted and line 1 has a single cell: plain text;
//   - else an error that names the columns found and wanted.
// A name that is no column of the header but a number is a position counted from 1.
// Throws DataError naming `path`, and ConfigError when one column is asked to be two things.
ColumnPlan plan_columns(const std::string& path, std::span<const std::string_view> first_line,
                        const TableRequest& request);

// The names in `request` that must be there: text, the pair if one is named, label and id if a label is needed.
std::vector<std::string> required_columns(const TableRequest& request);

}  // namespace bertft
