// The classes of a task: their names, their order, and the number of each. One table feeds the size of the head,
// id2label and label2id of config.json, and the columns of predictions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bertft {

class LabelTable {
 public:
  // No classes (real-valued targets).
  LabelTable() = default;
  // The given names in the given order. Throws ConfigError for fewer than `least` names, empty ones and duplicates.
  explicit LabelTable(std::vector<std::string> names, size_t least = 2);

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
  std::vector<int32_t> slots_;  // hash table with open addressing: -1 or a number; its size is a power of two
};

// The order of discovered labels: first those that are numbers, by value (equal ones by code point: 07 before 7), then
// the others by code point. Repeats are dropped.
std::vector<std::string> in_label_order(std::vector<std::string> names);

}  // namespace bertft
