// The classes of a task: their names, their order, and the number of each. One table feeds the size of the head,
// id2label and label2id of config.json, and the columns of predictions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/table.h"

namespace bertft {

class LabelTable {
 public:
  // The labels of `training`, named exactly as written: first those that are numbers, by value (equal ones by code
  // point: 07 before 7), then the others by code point. Throws DataError when a label is missing (empty or blank), all
  // faults in one message, and when there is only one class. REQUIRES a label column.
  static LabelTable discover(const Table& training);

  // The given names in the given order. Throws ConfigError for fewer than two names, empty ones and duplicates.
  explicit LabelTable(std::vector<std::string> names);

  int32_t size() const { return static_cast<int32_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name(int32_t id) const { return names_[static_cast<size_t>(id)]; }
  // -1 for a label that is not in the table.
  int32_t find(std::string_view label) const;

  // What a user should look at: labels that are equal as numbers (07 and 7) or but for blanks around them, one line a
  // group, at most ten.
  std::vector<std::string> warnings() const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, int32_t, std::less<>> ids_;
};

// The table that data.labels asks for: `given` unless it is empty or [auto], else the labels of `training`.
LabelTable make_label_table(const std::vector<std::string>& given, const Table& training);

// The class number of every row. Throws DataError with all rows whose label is missing or not in `labels` ("dev.tsv:17:
// label 'x' is not among the 6 labels of training (nearest: 'y')"). REQUIRES a label column.
std::vector<int32_t> label_ids(const Table& table, const LabelTable& labels);

}  // namespace bertft
