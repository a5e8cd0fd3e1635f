#include "comm/wire/wire_map.h"

#include <algorithm>

#include "core/error.h"

namespace bertft {

WireMap::WireMap(const Layout& layout) {
  for (size_t i = 0; i < layout.entries.size(); ++i) {
    const LayoutEntry& entry = layout.entries[i];
    if (entry.spec.shape.size() > 1) continue;
    const int64_t end = i + 1 < layout.entries.size() ? layout.entries[i + 1].offset : layout.total;
    if (!vectors_.empty() && vectors_.back().end == entry.offset) {
      vectors_.back().end = end;
    } else {
      vectors_.push_back({entry.offset, end});
    }
  }
}

std::vector<WireBlock> WireMap::blocks(ElementRange range, WireType wire) const {
  check(range.begin >= 0 && range.begin <= range.end, "a range that ends before it begins");
  std::vector<WireBlock> result;
  auto vector = std::partition_point(vectors_.begin(), vectors_.end(),
                                     [&](const ElementRange& one) { return one.end <= range.begin; });
  for (int64_t at = range.begin; at < range.end;) {
    int64_t end = std::min(range.end, (at / kWireBlockElements + 1) * kWireBlockElements);
    WireType wanted = wire;
    if (wire == WireType::kMixed) {
      while (vector != vectors_.end() && vector->end <= at) {
        ++vector;
      }
      const bool is_vector = vector != vectors_.end() && vector->begin <= at;
      wanted = is_vector ? WireType::kFp32 : WireType::kFp16;
      if (vector != vectors_.end()) end = std::min(end, is_vector ? vector->end : vector->begin);
    }
    result.push_back({{at, end}, wanted});
    at = end;
  }
  return result;
}

}  // namespace bertft
