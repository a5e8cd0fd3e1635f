// Decides what form a data file has: what the options say, else its name, else how it begins.
#pragma once

#include <string>
#include <string_view>

#include "data/columns.h"

namespace bertft {

enum class FileFormat { kDelimited, kCsv, kJsonLines };

struct FormatChoice {
  FileFormat format = FileFormat::kDelimited;
  char delimiter = '\t';
  int64_t max_splits = 0;
  std::string reason;  // "the name ends in .csv", ...
};

// Throws ConfigError for options that no file can meet: a delimiter that is not one character, max_splits for a format
// with quoting, a schema for JSON, ...
void check_table_request(const TableRequest& request);

// `first_line` is the beginning of the file up to its first line end.
//   - data.format, if not auto, with data.delimiter instead of its own;
//   - data.max_splits: no quoting;
//   - the name: .csv, .tsv, .json, .jsonl, .ndjson; but for a line 1 that is clearly something else, such as a .csv
//     whose columns are divided by tabs or semicolons;
//   - data.delimiter: a comma means CSV, others mean no quoting;
//   - the content: an object or array of JSON; tabs; wanted names between commas, semicolons or bars; else TSV.
FormatChoice choose_format(const std::string& path, std::string_view first_line, const TableRequest& request);

}  // namespace bertft
