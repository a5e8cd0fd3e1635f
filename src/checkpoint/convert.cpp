#include "checkpoint/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

// Element types as they are stored: what to load, how to widen it, and whether its value is finite.
struct StoredF64 {
  using Bits = uint64_t;
  static double widen(Bits bits) { return std::bit_cast<double>(bits); }
  static bool is_finite(Bits bits) {
    return std::fabs(std::bit_cast<double>(bits)) <= double{std::numeric_limits<float>::max()};
  }
};

struct StoredF32 {
  using Bits = uint32_t;
  static float widen(Bits bits) { return std::bit_cast<float>(bits); }
  static bool is_finite(Bits bits) { return (bits & 0x7f800000u) != 0x7f800000u; }
};

struct StoredBF16 {
  using Bits = uint16_t;
  static float widen(Bits bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
  static bool is_finite(Bits bits) { return (bits & 0x7f80u) != 0x7f80u; }
};

struct StoredF16 {
  using Bits = uint16_t;
  // Moves exponent and fraction to their places in a float and corrects the exponent's bias (127 - 15). An all-ones
  // exponent needs the correction twice; a zero exponent needs one more and a subtraction that normalizes the fraction.
  static float widen(Bits bits) {
    constexpr uint32_t kExponent = 0x7c00u << 13;
    const uint32_t magnitude = (bits & 0x7fffu) << 13;
    const uint32_t exponent = magnitude & kExponent;
    const uint32_t rebased = magnitude + (112u << 23) + (exponent == kExponent ? 112u << 23 : 0u);
    const float normalized = std::bit_cast<float>(magnitude + (113u << 23)) - std::bit_cast<float>(113u << 23);
    const uint32_t result = exponent == 0 ? std::bit_cast<uint32_t>(normalized) : rebased;
    return std::bit_cast<float>(result | (bits & 0x8000u) << 16);
  }
  static bool is_finite(Bits bits) { return (bits & 0x7c00u) != 0x7c00u; }
};

template <typename Stored>
typename Stored::Bits load(const std::byte* data, int64_t index) {
  typename Stored::Bits bits;
  std::memcpy(&bits, data + static_cast<size_t>(index) * sizeof(bits), sizeof(bits));
  return bits;
}

template <typename Stored, typename Out>
void copy_as(const TensorView& view, Out* out) {
  const int64_t count = element_count(view.shape);
  const std::byte* const data = view.data;
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(Stored::widen(load<Stored>(data, i)));
}

// Scans block by block without a branch per element; the block with a hit is searched again.
template <typename Stored>
int64_t scan_as(const TensorView& view) {
  constexpr int64_t kBlock = 4096;
  const int64_t count = element_count(view.shape);
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, count);
    uint32_t has_hit = 0;
    for (int64_t i = begin; i < end; ++i) has_hit |= Stored::is_finite(load<Stored>(view.data, i)) ? 0u : 1u;
    if (has_hit == 0) continue;
    for (int64_t i = begin; i < end; ++i) {
      if (!Stored::is_finite(load<Stored>(view.data, i))) return i;
    }
  }
  return -1;
}

// Calls `action` with the stored type of the view.
template <typename Action>
auto with_stored_type(const TensorView& view, Action action) {
  switch (view.dtype) {
    case DType::kF64:
      return action(StoredF64{});
    case DType::kF32:
      return action(StoredF32{});
    case DType::kF16:
      return action(StoredF16{});
    case DType::kBF16:
      return action(StoredBF16{});
    default:
      throw CheckpointError(fmt::format(
          "tensor '{}' holds {}, weights must be F32, F16, BF16 or F64. Convert it and save the checkpoint again",
          excerpt(view.name, 200), dtype_name(view.dtype)));
  }
}

}  // namespace

bool is_weight_dtype(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

void copy_to_f32(const TensorView& view, float* out) {
  with_stored_type(view, [&](auto stored) { copy_as<decltype(stored)>(view, out); });
}

void copy_to_f64(const TensorView& view, double* out) {
  with_stored_type(view, [&](auto stored) { copy_as<decltype(stored)>(view, out); });
}

int64_t first_non_finite(const TensorView& view) {
  return with_stored_type(view, [&](auto stored) { return scan_as<decltype(stored)>(view); });
}

}  // namespace bertft
