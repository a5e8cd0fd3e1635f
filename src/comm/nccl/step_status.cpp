#include "comm/nccl/step_status.h"

#include <cstring>

#include "comm/nccl/wire_grid.h"

namespace bertft::nccl {

UnitMarks StatusLayout::marks(std::byte* base, int unit) const {
  const auto at = static_cast<size_t>(unit);
  auto* bytes = reinterpret_cast<uint8_t*>(base + flags_at());
  return {reinterpret_cast<ScanCell*>(base) + at, bytes + kFlags + at, bytes + message_bytes() + at};
}

void spread_flags(uint32_t word, std::byte* flags) {
  for (size_t bit = 0; bit < StatusLayout::kFlags; ++bit) {
    flags[bit] = static_cast<std::byte>(word >> bit & 1u);
  }
}

StepVerdict read_status(const StatusLayout& layout, const std::byte* block) {
  StepVerdict verdict;
  const std::byte* flags = block + layout.flags_at();
  for (size_t bit = 0; bit < StatusLayout::kFlags; ++bit) {
    if (flags[bit] != std::byte{0}) verdict.flags |= 1u << bit;
  }
  const std::byte* sent = flags + StatusLayout::kFlags;
  const std::byte* summed = flags + layout.message_bytes();
  for (int unit = 0; unit < layout.units(); ++unit) {
    const auto at = static_cast<size_t>(unit);
    if (summed[at] != std::byte{0}) {
      verdict.is_sum_finite = false;
      if (sent[at] == std::byte{0}) verdict.overflowed.push_back(unit);
    }
    ScanCell cell;
    std::memcpy(&cell, block + at * sizeof cell, sizeof cell);
    if (cell.nan_count + cell.inf_count == 0) continue;
    NonFinite found;
    found.unit = unit;
    found.index = static_cast<int64_t>(~cell.inverted_first);
    found.nan_count = static_cast<int64_t>(cell.nan_count);
    found.inf_count = static_cast<int64_t>(cell.inf_count);
    if (cell.greatest != 0) {
      found.min = float_of_key(~cell.inverted_least);
      found.max = float_of_key(cell.greatest);
    }
    verdict.found.push_back(found);
  }
  return verdict;
}

}  // namespace bertft::nccl
