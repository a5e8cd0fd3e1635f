// What the head computed for every row of a data set, collected by row number whatever the order of micro-batches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bertft {

class RowOutputs {
 public:
  explicit RowOutputs(int64_t rows);

  // Once per row. A row may have any number of values: C logits, or C per token.
  void set(int64_t row, std::span<const double> values);

  int64_t rows() const { return static_cast<int64_t>(places_.size()); }
  // REQUIRES that the row was set.
  std::span<const double> row(int64_t row) const;
  // Rows that were set: an evaluation asserts that it is all of them.
  int64_t rows_set() const { return rows_set_; }

  // The rows that were set, as bytes, and the way to take over those of another rank. REQUIRES that no row comes twice.
  std::string packed() const;
  void add_packed(std::string_view bytes);

 private:
  struct Place {
    size_t begin = 0;
    size_t size = 0;
    bool is_set = false;
  };
  std::vector<Place> places_;
  std::vector<double> values_;
  int64_t rows_set_ = 0;
};

}  // namespace bertft
