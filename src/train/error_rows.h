// predictions/dev_errors.tsv: the rows on which the best model is most wrong, with their texts, for people to read.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "tasks/row_errors.h"

namespace bertft {

struct ErrorRows {
  const Dataset& dataset;
  const std::vector<RowError>& errors;
  bool is_partial = false;  // the predictions hold the rows of the data set only, not all of the files
};

// Takes the lines of these rows from `predictions`, a file that write_split_predictions wrote, and puts the row's place
// (file:line) and its loss in front; largest loss first.
void write_error_rows(const std::string& path, const std::string& predictions, const ErrorRows& rows);

}  // namespace bertft
