// Makes labels of the texts of label cells: pattern, then map; lists for multi-label cells, numbers for real values.
// It is asked once for each distinct text of a data set, not once a row.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/label_settings.h"

namespace bertft {

// Between the cells of several label columns where they are kept as one text.
inline constexpr char kColumnSeparator = '\x1F';

// What one cell says. With a fault nothing else counts.
struct LabelReading {
  std::vector<std::string> names;  // single: at most one; multi: without repeats, in the cell's order
  double value = 0.0;              // real
  bool is_missing = false;         // nothing but blanks (multi: an empty cell is an empty set, not a missing one)
  std::string fault;               // "is no number", ...: completes "label 'x' ..."; "" = none
};

class LabelReader {
 public:
  // Throws ConfigError for a pattern that is no regular expression and for a map with an empty label.
  explicit LabelReader(const LabelSettings& settings);
  ~LabelReader();
  LabelReader(LabelReader&&) noexcept;

  // `cell` as written. Multi: a JSON array of texts and numbers when it begins with '[', else names joined by commas,
  // blanks around each name dropped. Several label columns: the cells joined by kColumnSeparator (see below).
  LabelReading read(std::string_view cell) const;

  const LabelSettings& settings() const { return settings_; }

 private:
  struct Pattern;
  using Map = std::unordered_map<std::string, std::string>;
  void add_name(std::string_view text, LabelReading& reading) const;
  void read_list(std::string_view cell, LabelReading& reading) const;
  void read_columns(std::string_view cell, LabelReading& reading) const;

  LabelSettings settings_;
  Map map_;
  std::unique_ptr<const Pattern> pattern_;  // null = none
};

// The value of a decimal number such as -1, 1.50 or 2e3, whatever the locale; blanks around it do not count. Returns
// false for anything else, inf and nan included.
bool parse_real(std::string_view text, double& value);

}  // namespace bertft
