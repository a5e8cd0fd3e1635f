#include "comm/wire/block_codec.h"

#include <algorithm>
#include <cmath>

#include "comm/wire/wire_kernels.h"
#include "core/error.h"

namespace bertft {
namespace {

// Puts the largest value just below 2^15: half of the largest half, so that rounding cannot overflow, and as far as
// possible from the halves that lose digits.
int best_exponent(float largest) {
  if (largest == 0.0f) return 0;
  return std::clamp(14 - std::ilogb(largest), kLeastScaleExponent, kMostScaleExponent);
}

}  // namespace

BlockCode encode_block(const float* x, int64_t n, WireType wanted, std::optional<int> scale_exponent, uint16_t* out) {
  const wire::IeeeArithmetic ieee;
  const wire::WireKernels& kernels = wire::kernels();
  if (wanted == WireType::kBf16) {
    return kernels.to_bf16(x, n, out) ? BlockCode{} : BlockCode{WireType::kBf16, 0};
  }
  check(wanted == WireType::kFp16, "a block can be encoded as fp16 or bf16 only");
  int exponent = 0;
  if (scale_exponent) {
    check(*scale_exponent >= kLeastScaleExponent && *scale_exponent <= kMostScaleExponent, "scale out of range");
    exponent = *scale_exponent;
  } else {
    const float largest = kernels.largest(x, n);
    if (!std::isfinite(largest)) return {};
    exponent = best_exponent(largest);
  }
  return kernels.to_fp16(x, n, std::ldexp(1.0f, exponent), out) ? BlockCode{} : BlockCode{WireType::kFp16, exponent};
}

void decode_block(BlockCode code, const uint16_t* x, int64_t n, float* out) {
  const wire::IeeeArithmetic ieee;
  if (code.type == WireType::kBf16) {
    wire::kernels().from_bf16(x, n, out);
  } else {
    check(code.type == WireType::kFp16, "a block in fp32 is not decoded");
    wire::kernels().from_fp16(x, n, std::ldexp(1.0f, -code.scale_exponent), out);
  }
}

bool is_possible(BlockCode code) {
  if (code.type == WireType::kFp16) {
    return code.scale_exponent >= kLeastScaleExponent && code.scale_exponent <= kMostScaleExponent;
  }
  return (code.type == WireType::kFp32 || code.type == WireType::kBf16) && code.scale_exponent == 0;
}

}  // namespace bertft
