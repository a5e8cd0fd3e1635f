#include "tokenize/unicode_tables.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace bertft::unicode {
namespace {

#include "tokenize/unicode_data.generated.inc"

constexpr char32_t kHangulFirst = 0xAC00;
constexpr char32_t kHangulCount = 11172;

// Finds the entry of a character in one of the generated lists {character, length, results...}: two loads, no search.
class MappingIndex {
 public:
  explicit MappingIndex(std::span<const uint32_t> entries) : entries_(entries), pages_(1) {
    for (size_t at = 0; at < entries.size(); at += 2 + entries[at + 1]) {
      uint16_t& page = page_of_[entries[at] >> kPageBits];
      if (page == 0) {
        page = static_cast<uint16_t>(pages_.size());
        pages_.emplace_back();
      }
      pages_[page][entries[at] & kPageMask] = static_cast<uint16_t>(at + 1);
    }
  }

  bool find(char32_t code, Mapped* mapped) const {
    const size_t at = pages_[page_of_[code >> kPageBits]][code & kPageMask];
    if (at == 0) return false;
    mapped->length = static_cast<int>(entries_[at]);
    for (size_t i = 0; i < entries_[at]; ++i) mapped->code[i] = entries_[at + 1 + i];
    return true;
  }

 private:
  static constexpr uint32_t kPageBits = 7;
  static constexpr uint32_t kPageMask = (1U << kPageBits) - 1;

  std::span<const uint32_t> entries_;
  std::array<uint16_t, (kCodePoints >> kPageBits)> page_of_{};  // 0: nothing on this page
  std::vector<std::array<uint16_t, 1U << kPageBits>> pages_;    // position of the length in entries_; 0: not mapped
};

Mapped map_with(const MappingIndex& index, const MappingIndex& google, char32_t code, Rules rules) {
  Mapped mapped{{code}, 1};
  if (rules == Rules::kGoogle && google.find(code, &mapped)) return mapped;
  index.find(code, &mapped);
  return mapped;
}

Mapped decompose_hangul(char32_t offset) {
  const char32_t tail = offset % 28;
  Mapped mapped{{0x1100 + offset / 588, 0x1161 + offset % 588 / 28, 0x11A7 + tail}, tail == 0 ? 2 : 3};
  return mapped;
}

}  // namespace

CharClass char_class(char32_t code) {
  return kClasses[kBlocks[kBlockIndex[code / kBlockSize] * kBlockSize + code % kBlockSize]];
}

Mapped decompose(char32_t code, Rules rules) {
  static const MappingIndex index(kDecomposition);
  static const MappingIndex google(kDecompositionGoogle);
  if (code - kHangulFirst < kHangulCount) return decompose_hangul(code - kHangulFirst);
  return map_with(index, google, code, rules);
}

Mapped lower_case(char32_t code, Rules rules) {
  static const MappingIndex index(kLower);
  static const MappingIndex google(kLowerGoogle);
  return map_with(index, google, code, rules);
}

}  // namespace bertft::unicode
