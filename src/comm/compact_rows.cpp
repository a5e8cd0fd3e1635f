#include "comm/compact_rows.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "core/error.h"

namespace bertft {

// A row never moves behind its place, so none is overwritten before it has moved.
void rows_to_front(std::byte* table, size_t row_bytes, const std::vector<int32_t>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<size_t>(rows[i]);
    if (row != i) std::memcpy(table + i * row_bytes, table + row * row_bytes, row_bytes);
  }
}

// From the last one: its place is free, or lies where a row was that has moved already.
void rows_from_front(std::byte* table, size_t row_bytes, const std::vector<int32_t>& rows) {
  for (size_t i = rows.size(); i-- > 0;) {
    const auto row = static_cast<size_t>(rows[i]);
    if (row == i) break;  // and so are all before it
    std::memcpy(table + row * row_bytes, table + i * row_bytes, row_bytes);
    std::memset(table + i * row_bytes, 0, row_bytes);  // unless another one follows to this place
  }
}

int table_with_own_units(const Layout& layout) {
  for (size_t e = 0; e < layout.entries.size(); ++e) {
    const LayoutEntry& table = layout.entries[e];
    if (!table.spec.is_lookup_table || !table.spec.is_trainable) continue;
    const auto shares = [&](const LayoutEntry& other) {
      return &other != &table && other.first_unit <= table.last_unit && other.last_unit >= table.first_unit;
    };
    if (std::none_of(layout.entries.begin(), layout.entries.end(), shares)) return static_cast<int>(e);
  }
  return -1;
}

CompactRows::CompactRows(const Layout& layout, const GradientBuffer& gradients, SparseRule rule)
    : layout_(layout),
      gradients_(static_cast<std::byte*>(gradients.data())),
      rule_(rule),
      entry_(rule == SparseRule::kNever ? -1 : table_with_own_units(layout)),
      element_bytes_(gradients.element_bytes()) {
  if (entry_ >= 0) width_ = layout_.entries[static_cast<size_t>(entry_)].spec.shape.back();
}

std::string CompactRows::description() const {
  if (entry_ < 0) return "dense embedding rows";
  return rule_ == SparseRule::kUpToHalf ? "sparse embedding rows (auto: up to half of them)" : "sparse embedding rows";
}

void CompactRows::set_rows(int entry, std::vector<int32_t> rows) {
  if (entry_ < 0 || entry != entry_) return;
  const bool is_ascending = std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end();
  check(is_ascending && (rows.empty() || (rows.front() >= 0 && static_cast<size_t>(rows.back()) < rows_of_table())),
        "the rows of a step are rows of the table, ascending, each once");
  rows_ = std::move(rows);
  has_rows_ = true;
  is_compact_ = rule_ == SparseRule::kUpToHalf ? 2 * rows_.size() <= rows_of_table() : rows_.size() < rows_of_table();
}

void CompactRows::before_leaving(int unit) {
  if (!is_compact_ || is_packed_ || !is_of_table(unit)) return;
  rows_to_front(table_in(gradients_), static_cast<size_t>(width_) * element_bytes_, rows_);
  is_packed_ = true;
}

ElementRange CompactRows::range_of(int unit) const {
  const LayoutUnit& whole = layout_.units[static_cast<size_t>(unit)];
  if (!is_compact_ || !is_of_table(unit)) return {whole.begin, whole.end};
  const int64_t block_end =
      layout_.entries[static_cast<size_t>(entry_)].offset + static_cast<int64_t>(rows_.size()) * width_;
  return {whole.begin, std::clamp(block_end, whole.begin, whole.end)};
}

int64_t CompactRows::origin_of(int64_t index) const {
  if (!is_compact_) return index;
  const int64_t place = index - layout_.entries[static_cast<size_t>(entry_)].offset;
  if (place < 0 || place >= static_cast<int64_t>(rows_.size()) * width_) return index;
  return index - place + rows_[static_cast<size_t>(place / width_)] * width_ + place % width_;
}

void CompactRows::restore() {
  check(is_packed_, "rows go back to their places after they were moved");
  rows_from_front(table_in(gradients_), static_cast<size_t>(width_) * element_bytes_, rows_);
}

void CompactRows::restore_in(std::byte* sums) {
  check(is_packed_, "rows go back to their places after they were moved");
  std::byte* table = table_in(sums);
  const size_t row_bytes = static_cast<size_t>(width_) * element_bytes_;
  // What the sums of the step before left behind the block.
  if (has_last_rows_) {
    for (const int32_t row : last_rows_) {
      if (static_cast<size_t>(row) >= rows_.size())
        std::memset(table + static_cast<size_t>(row) * row_bytes, 0, row_bytes);
    }
  } else {
    std::memset(table + rows_.size() * row_bytes, 0, (rows_of_table() - rows_.size()) * row_bytes);
  }
  rows_from_front(table, row_bytes, rows_);
}

void CompactRows::clear_block() {
  std::memset(table_in(gradients_), 0, rows_.size() * static_cast<size_t>(width_) * element_bytes_);
}

void CompactRows::end_step() {
  std::swap(last_rows_, rows_);
  has_last_rows_ = std::exchange(has_rows_, false);
  rows_.clear();
  is_compact_ = is_packed_ = false;
}

bool CompactRows::is_of_table(int unit) const {
  if (entry_ < 0) return false;
  const LayoutEntry& table = layout_.entries[static_cast<size_t>(entry_)];
  return unit >= table.first_unit && unit <= table.last_unit;
}

size_t CompactRows::rows_of_table() const {
  return static_cast<size_t>(layout_.entries[static_cast<size_t>(entry_)].spec.shape.front());
}

std::byte* CompactRows::table_in(std::byte* gradients) const {
  return gradients + static_cast<size_t>(layout_.entries[static_cast<size_t>(entry_)].offset) * element_bytes_;
}

}  // namespace bertft
