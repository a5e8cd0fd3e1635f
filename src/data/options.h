// The options of section `data`: which files hold the rows, and which columns mean what.
#pragma once

#include <cstdint>
#include <string>

#include "core/option_table.h"
#include "data/label_settings.h"

namespace bertft {

// The names of the columns that matter, as the header line writes them. In a file without header line a column goes by
// its position: "1" is the first.
struct ColumnNames {
  std::string text = "text";
  std::string text_pair = "";  // "" = single texts
  std::string label = "label";
  std::string id = "";     // "" = none; only copied to the output
  StringList labels = {};  // several columns of 0 and 1, one per label; then `label` does not count
};

struct DataOptions {
  StringList train;  // files, patterns and folders of texts (data/data_path.h); empty = none
  StringList dev;    // scored during training; without it `best` is `last`
  StringList test;   // scored once at the end
  std::string format = "auto";
  std::string header = "auto";
  std::string delimiter = "";  // "" = that of the format
  int64_t max_splits = 0;      // 0 = no limit
  std::string schema = "";     // "" = none
  std::string encoding = "utf-8";
  std::string invalid_utf8 = "replace";
  std::string bad_row = "error";
  ColumnNames columns;
  StringList labels;    // in the order of their numbers, or one file of them; empty or [auto] = those of the rows
  StringMap label_map;  // text in the file -> label
  std::string label_pattern = "";  // regular expression whose first group is the label; "" = the whole cell
  std::string label_type = "single";
  std::string unknown_label = "error";
  double dev_fraction = 0.0;   // of the training rows, split off to be dev; 0 = none
  std::string cache_dir = "";  // "" = a folder in $TMPDIR or /tmp; "none" = no cache
  int64_t max_rows = 0;        // of each of train, dev and test, from the start; 0 = all
};

// What of it says how label cells are read.
LabelSettings label_settings(const DataOptions& options);

// What says how a file is divided into columns.
struct FileForm {
  std::string format = "auto";
  std::string header = "auto";
  std::string delimiter = "";
  int64_t max_splits = 0;
  std::string schema = "";
};

// Throws ConfigError, naming the keys, for options that contradict each other or that no file can meet.
void check_file_form(const FileForm& form);
inline void check_file_form(const DataOptions& options) {
  check_file_form({options.format, options.header, options.delimiter, options.max_splits, options.schema});
}

// The table of section `data`. `options` must outlive it.
OptionTable data_option_table(DataOptions& options);

}  // namespace bertft
