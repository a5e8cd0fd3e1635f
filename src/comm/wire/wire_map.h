// Which parts of the flat buffer stay fp32 under the mixed wire, and how a range is cut into the blocks that travel: on
// the grid of 64 Ki elements of the flat buffer and where matrices meet vectors. Pure: equal on all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/wire/wire_type.h"
#include "core/layout.h"

namespace bertft {

constexpr int64_t kWireBlockElements = 65536;

// Elements [begin, end) of the flat buffer.
struct ElementRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const ElementRange&) const = default;
};

// What travels as one piece, with one header: at most kWireBlockElements, all of one kind.
struct WireBlock {
  ElementRange range;
  WireType wanted = WireType::kFp32;  // what it becomes unless it holds a value that this type cannot
};

class WireMap {
 public:
  // Everything is a matrix.
  WireMap() = default;
  // Vectors are the parameters of one dimension, with the gap behind them.
  explicit WireMap(const Layout& layout);

  // The blocks of `range` in ascending order; none when it is empty. `wire` is a job's.
  std::vector<WireBlock> blocks(ElementRange range, WireType wire) const;

 private:
  std::vector<ElementRange> vectors_;  // ascending, neighbours merged
};

}  // namespace bertft
