// The options of section `data`: which files hold the rows, and which columns mean what.
#pragma once

#include <cstdint>
#include <string>

#include "core/option_table.h"

namespace bertft {

// The names of the columns that matter, as the header line writes them. In a file without header line a column goes by
// its position: "1" is the first.
struct ColumnNames {
  std::string text = "text";
  std::string text_pair = "";  // "" = single texts
  std::string label = "label";
  std::string id = "";  // "" = none; only copied to the output
};

struct DataOptions {
  std::string train = "";  // path; "" = none
  std::string dev = "";    // scored during training; without it `best` is `last`
  std::string test = "";   // scored once at the end
  std::string format = "auto";
  std::string header = "auto";
  ColumnNames columns;
  StringList labels;     // in the order of their numbers; empty or [auto] = those of the training rows
  int64_t max_rows = 0;  // of each file, from its start; 0 = all
};

// The table of section `data`. `options` must outlive it.
OptionTable data_option_table(DataOptions& options);

}  // namespace bertft
