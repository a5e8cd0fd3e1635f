// The status of one step: what the kernels saw of its units and which flags were raised. It lies in device memory; its
// message part travels once, with the last unit, as a maximum over the ranks, and all of it is copied to the host then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/nccl/nccl_functions.h"
#include "comm/non_finite.h"

namespace bertft::nccl {

// A block of bytes: ScanCell[units], flag[32], is_sent[units], is_summed[units]; the message is flags and is_sent.
class StatusLayout {
 public:
  static constexpr size_t kFlags = 32;

  explicit StatusLayout(int units) : units_(static_cast<size_t>(units)) {}

  int units() const { return static_cast<int>(units_); }
  size_t flags_at() const { return units_ * sizeof(ScanCell); }
  size_t message_bytes() const { return kFlags + units_; }
  size_t bytes() const { return flags_at() + message_bytes() + units_; }
  // Of `unit` in the block at `base`.
  UnitMarks marks(std::byte* base, int unit) const;

 private:
  size_t units_;
};

// One byte for each bit of `word`.
void spread_flags(uint32_t word, std::byte* flags);

struct StepVerdict {
  uint32_t flags = 0;            // OR over the ranks
  bool is_sum_finite = true;     // of all units; the same on all ranks
  std::vector<int> overflowed;   // units whose sum is not finite although every contribution is; the same on all ranks
  std::vector<NonFinite> found;  // in this rank's contributions; rank and step are the caller's to fill in
};

// From a copy of the block whose message has been combined.
StepVerdict read_status(const StatusLayout& layout, const std::byte* block);

}  // namespace bertft::nccl
