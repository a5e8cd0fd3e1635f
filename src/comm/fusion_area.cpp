#include "comm/fusion_area.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace bertft {
namespace {

int64_t aligned(int64_t elements) {
  return (elements + kAlignmentElements - 1) / kAlignmentElements * kAlignmentElements;
}

}  // namespace

// Every unit begins at a multiple of the alignment, here as in the layout; groups are counted without these gaps.
int64_t FusionArea::elements_for(const Layout& layout, int64_t bytes) {
  const int64_t gaps = static_cast<int64_t>(layout.units.size()) * kAlignmentElements;
  const int64_t most = aligned(bytes / static_cast<int64_t>(sizeof(float))) + gaps;
  return std::min(most, aligned(layout.trainable_total) + gaps) + kAlignmentElements;
}

FusionArea::FusionArea(const Layout& layout, const GradientBuffer& gradients)
    : layout_(layout),
      gradients_(static_cast<std::byte*>(gradients.data())),
      element_bytes_(static_cast<int64_t>(gradients.element_bytes())),
      begin_(aligned(layout.trainable_total)),
      capacity_(static_cast<int64_t>(gradients.bytes()) / element_bytes_ - begin_) {}

ElementRange FusionArea::pack(const std::vector<int>& units) {
  packed_ = units;
  int64_t at = begin_;
  for (const int unit : units) {
    const LayoutUnit& range = layout_.units.at(static_cast<size_t>(unit));
    const int64_t size = range.end - range.begin;
    check(at + aligned(size) - begin_ <= capacity_, "a group of units fits into the fusion area");
    copy(gradients_ + (at * element_bytes_), gradients_ + (range.begin * element_bytes_), size);
    std::memset(gradients_ + ((at + size) * element_bytes_), 0,
                static_cast<size_t>((aligned(size) - size) * element_bytes_));
    at += aligned(size);
  }
  return {begin_, at};
}

void FusionArea::unpack(const std::vector<int>& units, const void* sums) {
  int64_t at = begin_;
  for (const int unit : units) {
    const LayoutUnit& range = layout_.units.at(static_cast<size_t>(unit));
    const int64_t size = range.end - range.begin;
    copy(gradients_ + (range.begin * element_bytes_), static_cast<const std::byte*>(sums) + (at * element_bytes_),
         size);
    at += aligned(size);
  }
}

void FusionArea::copy_back(int unit, const void* sums) {
  const LayoutUnit& range = layout_.units.at(static_cast<size_t>(unit));
  const int64_t begin = range.begin * element_bytes_;
  copy(gradients_ + begin, static_cast<const std::byte*>(sums) + begin, range.end - range.begin);
}

int64_t FusionArea::origin_of(int64_t index) const {
  int64_t at = begin_;
  for (const int unit : packed_) {
    const LayoutUnit& range = layout_.units[static_cast<size_t>(unit)];
    const int64_t size = range.end - range.begin;
    if (index >= at && index < at + size) return range.begin + (index - at);
    at += aligned(size);
  }
  return index;
}

void FusionArea::copy(std::byte* to, const std::byte* from, int64_t elements) {
  std::memcpy(to, from, static_cast<size_t>(elements * element_bytes_));
  copied_bytes_ += elements * element_bytes_;
}

}  // namespace bertft
