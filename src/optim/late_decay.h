// Weight decay of the rows of a lookup table that no gradient has ever touched. Both moments of such a row are zero, so
// AdamW does nothing to it but multiply it with a factor each step. The factors are kept, and a row gets those that it
// has not had yet, one after the other, before it is read: the same bits, without a pass over the table in every step.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/layout.h"

namespace bertft {

class LateDecay {
 public:
  // `table`: a trainable lookup table of the layout. No row is live at first.
  explicit LateDecay(const LayoutEntry& table);

  // Rows that the update rule itself has to update, since their moments may be non-zero. Ascending.
  const std::vector<int32_t>& live_rows() const { return live_; }
  // Adds rows (ascending, each once) to them, with their decay up to date. `weights`: the flat buffer.
  void make_live(const at::Tensor& weights, std::span<const int32_t> rows);
  void make_all_live(const at::Tensor& weights);
  // Finds anew which rows are live: those with a moment that is not zero. Flat buffers.
  void find_live(const at::Tensor& weights, const at::Tensor& first_moment, const at::Tensor& second_moment);

  // One more step: the rows that are not live are to be multiplied with `factor`, a value of the weights' type.
  void add_factor(double factor);
  // Brings rows (any order, repeats allowed), or all of them, up to date.
  void settle_rows(const at::Tensor& weights, std::span<const int32_t> rows);
  void settle(const at::Tensor& weights);

 private:
  template <typename T>
  void settle_row(T* table, int64_t row);
  void mark_live(std::span<const int32_t> rows);
  at::Tensor table_of(const at::Tensor& flat) const;

  int64_t offset_, rows_, width_;
  std::vector<uint8_t> is_live_;
  std::vector<int32_t> live_;
  std::vector<double> factors_;    // of steps since all rows were up to date, but for those of 1
  std::vector<uint32_t> settled_;  // by row: how many of them it has had
};

}  // namespace bertft
