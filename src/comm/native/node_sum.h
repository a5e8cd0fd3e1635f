// Sums a range of the gradients of a node's ranks in canonical order. Contributions whose sum is not finite are intact
// while such a value is traced to the rank it came from.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "comm/wire/wire_map.h"

namespace bertft::native {

struct NodeSum {
  std::vector<const std::byte*>
      sources;                      // buffers, in canonical order; element i of the flat buffer at base + i * size
  std::vector<std::byte*> outputs;  // buffers that get the sum; they may be sources
  ElementRange range;
  size_t element_bytes = 4;  // 4: float, 8: double
};

// `on_wrong(source, block)` is called for each source of a block whose sum is not finite, before the block is written.
void sum_range(const NodeSum& sum, const std::function<void(size_t source, ElementRange block)>& on_wrong);

// True when a value in the range of one buffer is not finite.
bool has_non_finite(const std::byte* buffer, ElementRange range, size_t element_bytes);

}  // namespace bertft::native
