#include "checkpoint/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"

namespace bertft {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  size_t bytes;
};

// In the order of the enumeration.
constexpr std::array<DTypeRow, 17> kDTypes = {{{DType::kBool, "BOOL", 1},
                                               {DType::kU8, "U8", 1},
                                               {DType::kI8, "I8", 1},
                                               {DType::kF8E5M2, "F8_E5M2", 1},
                                               {DType::kF8E4M3, "F8_E4M3", 1},
                                               {DType::kF8E8M0, "F8_E8M0", 1},
                                               {DType::kI16, "I16", 2},
                                               {DType::kU16, "U16", 2},
                                               {DType::kF16, "F16", 2},
                                               {DType::kBF16, "BF16", 2},
                                               {DType::kI32, "I32", 4},
                                               {DType::kU32, "U32", 4},
                                               {DType::kF32, "F32", 4},
                                               {DType::kC64, "C64", 8},
                                               {DType::kF64, "F64", 8},
                                               {DType::kI64, "I64", 8},
                                               {DType::kU64, "U64", 8}}};

const DTypeRow& row(DType dtype) {
  const DTypeRow& found = kDTypes.at(static_cast<size_t>(dtype));
  check(found.dtype == dtype, "the table of element types is out of order");
  return found;
}

}  // namespace

std::string_view dtype_name(DType dtype) { return row(dtype).name; }

size_t dtype_bytes(DType dtype) { return row(dtype).bytes; }

std::optional<DType> find_dtype(std::string_view name) {
  const auto* found = std::find_if(kDTypes.begin(), kDTypes.end(), [&](const DTypeRow& r) { return r.name == name; });
  if (found == kDTypes.end()) return std::nullopt;
  return found->dtype;
}

std::optional<int64_t> checked_element_count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

int64_t element_count(const std::vector<int64_t>& shape) {
  const std::optional<int64_t> count = checked_element_count(shape);
  check(count.has_value(), "a shape with a negative size or too many elements");
  return *count;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  constexpr size_t kShown = 8;
  const auto end = shape.begin() + static_cast<std::ptrdiff_t>(std::min(shape.size(), kShown));
  return fmt::format("[{}{}]", fmt::join(shape.begin(), end, ", "), shape.size() > kShown ? ", ..." : "");
}

}  // namespace bertft
