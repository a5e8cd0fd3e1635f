// How the files of a training were read, so that `evaluate` and `predict` read files of the same kind the same way.
#pragma once

#include <string>

#include "data/columns.h"
#include "data/options.h"

namespace bertft {

struct ReadingSettings {
  FileForm form;
  std::string encoding = "utf-8";
  std::string invalid_utf8 = "replace";
  std::string ending = "";  // of the first training path: tsv, csv, json, jsonl, ndjson; "" for all others
};

ReadingSettings reading_settings(const DataOptions& options);

// What of `reading` goes for `path` ("-": standard input), as data options:
//   - encoding and invalid_utf8 always;
//   - delimiter, max_splits, schema and header unless the name ends in another known ending than the training file's;
//   - format only when it has the same one (and for no standard input): others are recognized by name and content.
DataOptions reading_of_path(const ReadingSettings& reading, const std::string& path);

// Throws ConfigError for values that no build writes.
void check_reading(const ReadingSettings& reading);

}  // namespace bertft
