// Sends of a lookup table only the rows that a step uses. They are moved to the front of the table's own range, in
// place, and its units send what of that block lies in them: first the whole of the front ones, then a part, then
// nothing. After the sums the rows go back to their places. Which units there are, and their order, never changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/gradient_buffer.h"
#include "comm/wire/wire_map.h"
#include "core/layout.h"

namespace bertft {

// Moves `rows` (ascending, each once) of the table to its front, one behind the other. Where they were, and behind the
// block, is no longer defined.
void rows_to_front(std::byte* table, size_t row_bytes, const std::vector<int32_t>& rows);
// The way back: the other rows of the block become zero; behind it, those that are not in `rows` are left alone.
void rows_from_front(std::byte* table, size_t row_bytes, const std::vector<int32_t>& rows);

// The entry of a lookup table that is trained and shares no unit with another parameter; -1: there is none.
int table_with_own_units(const Layout& layout);

// In which steps the rows are sent and not the table; by counts alone, so that all ranks decide alike.
enum class SparseRule {
  kNever,
  kUpToHalf,   // when at most half of the table's rows are used
  kAnyUnused,  // whenever a row is not used
};

class CompactRows {
 public:
  // Both must outlive this object.
  CompactRows(const Layout& layout, const GradientBuffer& gradients, SparseRule rule);

  // For the start-up table.
  std::string description() const;

  // Before a step: the rows of the table `entry` that this step's gradients may use on any rank, ascending, each once;
  // the others are zero everywhere. Holds until end_step(). Without it any row may be used.
  void set_rows(int entry, std::vector<int32_t> rows);
  // Whether the rows of this step are sent, and not the table.
  bool is_compact() const { return is_compact_; }

  // Before each unit of a step leaves, in any order: with the first one of the table its rows move to the front.
  void before_leaving(int unit);
  // What is summed for a unit.
  ElementRange range_of(int unit) const;
  // Of an element of the block its place among the gradients; of any other that itself.
  int64_t origin_of(int64_t index) const;

  // When all units are summed, in a compact step. restore(): the gradients hold the sums. restore_in(): `sums`, of the
  // same form, do; rows of steps before may still stand there. clear_block(): they do not hold the sums, so that the
  // block is nobody's; only rows of this step are not zero afterwards.
  void restore();
  void restore_in(std::byte* sums);
  void clear_block();
  // After every step, compact or not.
  void end_step();

 private:
  bool is_of_table(int unit) const;
  size_t rows_of_table() const;
  std::byte* table_in(std::byte* gradients) const;

  const Layout& layout_;
  std::byte* gradients_;
  const SparseRule rule_;
  int entry_;          // of the table; -1: none
  int64_t width_ = 0;  // elements of a row
  size_t element_bytes_;
  std::vector<int32_t> rows_;  // of this step
  bool has_rows_ = false;
  bool is_compact_ = false;
  bool is_packed_ = false;
  std::vector<int32_t> last_rows_;  // of the step before
  bool has_last_rows_ = true;       // else any row may have been used
};

}  // namespace bertft
