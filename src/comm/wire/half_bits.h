// The 16-bit formats, one number at a time, on bit patterns: what the scalar kernels and the ends of vector loops use.
// Inlined into each level's own namespace, so that no code for one level can be linked into another. Code for devices
// defines BERTFT_WIRE_INLINE itself.
#pragma once

#include <cstdint>

namespace bertft::wire::BERTFT_WIRE_LEVEL {

#ifndef BERTFT_WIRE_INLINE
#define BERTFT_WIRE_INLINE static inline __attribute__((always_inline))
#endif

BERTFT_WIRE_INLINE uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
BERTFT_WIRE_INLINE float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// value / 2^shift, rounded to nearest, ties to even; 1 <= shift <= 24.
BERTFT_WIRE_INLINE uint32_t shift_rounded(uint32_t value, uint32_t shift) {
  const uint32_t result = value >> shift;
  const uint32_t rest = value & ((1u << shift) - 1u);
  const uint32_t half = 1u << (shift - 1u);
  return result + ((rest > half || (rest == half && (result & 1u) != 0)) ? 1u : 0u);
}

BERTFT_WIRE_INLINE uint16_t fp16_of(float x) {
  const uint32_t bits = bits_of(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t size = bits & 0x7fffffffu;
  uint32_t half = 0;
  if (size > 0x7f800000u) {  // NaN: quiet, with what fits of its payload
    half = 0x7e00u | ((size >> 13) & 0x3ffu);
  } else if (size >= 0x47800000u) {  // 65536 and more
    half = 0x7c00u;
  } else if (size >= 0x38800000u) {  // normal halves: the exponent's bias falls from 127 to 15
    half = shift_rounded(size - 0x38000000u, 13);
  } else if (size >= 0x33000000u) {  // multiples of 2^-24; from half of that on something may be left
    half = shift_rounded((size & 0x7fffffu) | 0x800000u, 126u - (size >> 23));
  }
  return static_cast<uint16_t>(sign | half);
}

BERTFT_WIRE_INLINE float float_of_fp16(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1fu) return float_of(sign | 0x7f800000u | (mantissa << 13) | (mantissa != 0 ? 0x400000u : 0u));
  if (exponent != 0) return float_of(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  const float value = static_cast<float>(mantissa) * 0x1p-24f;  // exact
  return float_of(sign | bits_of(value));
}

BERTFT_WIRE_INLINE uint16_t bf16_of(float x) {
  const uint32_t bits = bits_of(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace bertft::wire::BERTFT_WIRE_LEVEL
