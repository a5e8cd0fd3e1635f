// The place through which small units travel together, as Horovod's fusion buffer: they are copied in one behind the
// other, summed as one range, and copied back. It lies behind the gradients in the same memory, so that a transport
// sums both alike.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/gradient_buffer.h"
#include "comm/wire/wire_map.h"
#include "core/layout.h"

namespace bertft {

class FusionArea {
 public:
  // Elements that a buffer needs behind `layout.trainable_total` for groups of at most `bytes` of fp32.
  static int64_t elements_for(const Layout& layout, int64_t bytes);

  // Whatever `gradients` holds behind the gradients of `layout`. Both must outlive this object.
  FusionArea(const Layout& layout, const GradientBuffer& gradients);

  // Copies the units' gradients in; returns the range to sum. Throws InternalError when they do not fit.
  ElementRange pack(const std::vector<int>& units);
  // Copies their sums, which stand in `sums` (the area of the gradients, or of a result of the same form), back.
  void unpack(const std::vector<int>& units, const void* sums);
  // The same for a unit that was summed where it lies, when its sum stands elsewhere.
  void copy_back(int unit, const void* sums);

  // Of an element of the area, or of the gradients, its place among the gradients; of the units packed last.
  int64_t origin_of(int64_t index) const;

  int64_t copied_bytes() const { return copied_bytes_; }

 private:
  void copy(std::byte* to, const std::byte* from, int64_t elements);

  const Layout& layout_;
  std::byte* gradients_;
  int64_t element_bytes_;
  int64_t begin_;     // of the area, elements
  int64_t capacity_;  // elements
  std::vector<int> packed_;
  std::atomic<int64_t> copied_bytes_ = 0;
};

}  // namespace bertft
