// The kernels of one instruction set (BERTFT_WIRE_LEVEL: avx512, avx2 or scalar): vectors of its width, then the rest
// one by one with the same results.
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "comm/wire/half_bits.h"
#include "comm/wire/kernel_table.h"

namespace bertft::wire::BERTFT_WIRE_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX2__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif

using Float = float __attribute__((vector_size(kWidth * 4)));
using Int = int32_t __attribute__((vector_size(kWidth * 4)));
using Word = uint32_t __attribute__((vector_size(kWidth * 4)));
using Half = uint16_t __attribute__((vector_size(kWidth * 2)));
using Double = double __attribute__((vector_size(kWidth * 4)));
using Long = int64_t __attribute__((vector_size(kWidth * 4)));

template <typename Vector, typename Element>
BERTFT_WIRE_INLINE Vector load(const Element* from) {
  Vector x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}
template <typename Vector, typename Element>
BERTFT_WIRE_INLINE void store(Element* to, Vector x) {
  __builtin_memcpy(to, &x, sizeof x);
}

template <typename Vector>
BERTFT_WIRE_INLINE bool any(Vector mask) {
#if defined(__AVX512F__)
  if constexpr (sizeof mask == sizeof(__m512i)) {
    const auto bits = __builtin_bit_cast(__m512i, mask);
    return _mm512_test_epi32_mask(bits, bits) != 0;
  }
#elif defined(__AVX2__)
  if constexpr (sizeof mask == sizeof(__m256i)) {
    const auto bits = __builtin_bit_cast(__m256i, mask);
    return _mm256_testz_si256(bits, bits) == 0;
  }
#endif
  bool result = false;
  for (unsigned i = 0; i < sizeof(mask) / sizeof(mask[0]); ++i) {
    result |= mask[i] != 0;
  }
  return result;
}

// All ones where the element is infinite or no number.
BERTFT_WIRE_INLINE Int not_finite(Float x) { return (__builtin_bit_cast(Int, x) & 0x7f800000) == 0x7f800000; }
BERTFT_WIRE_INLINE Long not_finite(Double x) {
  return (__builtin_bit_cast(Long, x) & 0x7ff0000000000000) == 0x7ff0000000000000;
}
BERTFT_WIRE_INLINE bool not_finite(float x) { return (bits_of(x) & 0x7f800000u) == 0x7f800000u; }
BERTFT_WIRE_INLINE bool not_finite(double x) {
  return (__builtin_bit_cast(uint64_t, x) & 0x7ff0000000000000u) == 0x7ff0000000000000u;
}

// kCount > 0: the number of sources, known to the compiler.
template <typename Vector, typename Mask, typename Element, int kCount>
BERTFT_WIRE_INLINE bool sum_of(const Element* const* sources, int any_count, int64_t n, Element* out) {
  const int count = kCount > 0 ? kCount : any_count;
  constexpr int64_t kStep = sizeof(Vector) / sizeof(Element);
  Mask wrong{};
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    Vector total = load<Vector>(sources[0] + i);
    for (int source = 1; source < count; ++source) {
      total = total + load<Vector>(sources[source] + i);
    }
    wrong |= not_finite(total);
    store(out + i, total);
  }
  bool is_wrong = any(wrong);
  for (; i < n; ++i) {
    Element total = sources[0][i];
    for (int source = 1; source < count; ++source) {
      total = total + sources[source][i];
    }
    is_wrong |= not_finite(total);
    out[i] = total;
  }
  return is_wrong;
}

template <typename Vector, typename Mask, typename Element>
bool sum_any(const Element* const* sources, int count, int64_t n, Element* out) {
  switch (count) {
    case 1:
      return sum_of<Vector, Mask, Element, 1>(sources, count, n, out);
    case 2:
      return sum_of<Vector, Mask, Element, 2>(sources, count, n, out);
    case 3:
      return sum_of<Vector, Mask, Element, 3>(sources, count, n, out);
    case 4:
      return sum_of<Vector, Mask, Element, 4>(sources, count, n, out);
    default:
      return sum_of<Vector, Mask, Element, 0>(sources, count, n, out);
  }
}

bool sum(const float* const* sources, int count, int64_t n, float* out) {
  return sum_any<Float, Int>(sources, count, n, out);
}

bool sum_doubles(const double* const* sources, int count, int64_t n, double* out) {
  return sum_any<Double, Long>(sources, count, n, out);
}

constexpr int kGroup = 4;  // vectors that are looked at together, while they are in registers

template <typename Vector, typename Mask, typename Element, int kCount, int kOutputs>
BERTFT_WIRE_INLINE int64_t sum_into_of(const Element* const* sources, int any_count, int64_t n, Element* const* outputs,
                                       int any_output_count) {
  const int count = kCount > 0 ? kCount : any_count;
  const int output_count = kOutputs > 0 ? kOutputs : any_output_count;
  constexpr int64_t kStep = sizeof(Vector) / sizeof(Element);
  int64_t i = 0;
  for (; i + kGroup * kStep <= n; i += kGroup * kStep) {
    Vector totals[kGroup];
    Mask wrong{};
    for (int at = 0; at < kGroup; ++at) {
      totals[at] = load<Vector>(sources[0] + i + at * kStep);
      for (int source = 1; source < count; ++source) {
        totals[at] = totals[at] + load<Vector>(sources[source] + i + at * kStep);
      }
      wrong |= not_finite(totals[at]);
    }
    if (any(wrong)) return i;
    for (int output = 0; output < output_count; ++output) {
      for (int at = 0; at < kGroup; ++at) store(outputs[output] + i + at * kStep, totals[at]);
    }
  }
  for (; i < n; ++i) {
    Element total = sources[0][i];
    for (int source = 1; source < count; ++source) {
      total = total + sources[source][i];
    }
    if (not_finite(total)) return i;
    for (int output = 0; output < output_count; ++output) outputs[output][i] = total;
  }
  return n;
}

template <typename Vector, typename Mask, typename Element>
int64_t sum_into_any(const Element* const* sources, int count, int64_t n, Element* const* outputs, int output_count) {
  const auto is = [&](int a, int b) { return count == a && output_count == b; };
  if (is(2, 2)) return sum_into_of<Vector, Mask, Element, 2, 2>(sources, count, n, outputs, output_count);
  if (is(2, 1)) return sum_into_of<Vector, Mask, Element, 2, 1>(sources, count, n, outputs, output_count);
  if (is(3, 1)) return sum_into_of<Vector, Mask, Element, 3, 1>(sources, count, n, outputs, output_count);
  if (is(4, 1)) return sum_into_of<Vector, Mask, Element, 4, 1>(sources, count, n, outputs, output_count);
  return sum_into_of<Vector, Mask, Element, 0, 0>(sources, count, n, outputs, output_count);
}

int64_t sum_into(const float* const* sources, int count, int64_t n, float* const* outputs, int output_count) {
  return sum_into_any<Float, Int>(sources, count, n, outputs, output_count);
}

int64_t sum_doubles_into(const double* const* sources, int count, int64_t n, double* const* outputs, int output_count) {
  return sum_into_any<Double, Long>(sources, count, n, outputs, output_count);
}

// Magnitudes compare as their bit patterns do, NaN above infinity.
float largest(const float* x, int64_t n) {
  Int most{};
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const Int size = __builtin_bit_cast(Int, load<Float>(x + i)) & 0x7fffffff;
    most = size > most ? size : most;
  }
  uint32_t result = 0;
  for (int lane = 0; lane < kWidth; ++lane) {
    const uint32_t size = static_cast<uint32_t>(most[lane]);
    result = size > result ? size : result;
  }
  for (; i < n; ++i) {
    const uint32_t size = bits_of(x[i]) & 0x7fffffffu;
    result = size > result ? size : result;
  }
  return float_of(result > 0x7f800000u ? 0x7f800000u : result);
}

BERTFT_WIRE_INLINE Half halves_of(Float x) {
#if defined(__AVX512F__)
  return __builtin_bit_cast(Half, _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(__AVX2__)
  return __builtin_bit_cast(Half, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
  Half result{};
  for (int i = 0; i < kWidth; ++i) {
    result[i] = fp16_of(x[i]);
  }
  return result;
#endif
}

BERTFT_WIRE_INLINE Float floats_of(Half x) {
#if defined(__AVX512F__)
  return _mm512_cvtph_ps(__builtin_bit_cast(__m256i, x));
#elif defined(__AVX2__)
  return _mm256_cvtph_ps(__builtin_bit_cast(__m128i, x));
#else
  Float result{};
  for (int i = 0; i < kWidth; ++i) {
    result[i] = float_of_fp16(x[i]);
  }
  return result;
#endif
}

bool to_fp16(const float* x, int64_t n, float scale, uint16_t* out) {
  Half wrong{};
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const Half halves = halves_of(load<Float>(x + i) * scale);
    wrong |= __builtin_bit_cast(Half, (halves & 0x7c00) == 0x7c00);
    store(out + i, halves);
  }
  bool is_wrong = any(wrong);
  for (; i < n; ++i) {
    out[i] = fp16_of(x[i] * scale);
    is_wrong |= (out[i] & 0x7c00u) == 0x7c00u;
  }
  return is_wrong;
}

void from_fp16(const uint16_t* x, int64_t n, float scale, float* out) {
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    store(out + i, floats_of(load<Half>(x + i)) * scale);
  }
  for (; i < n; ++i) {
    out[i] = float_of_fp16(x[i]) * scale;
  }
}

bool to_bf16(const float* x, int64_t n, uint16_t* out) {
  Word wrong{};
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const Word bits = __builtin_bit_cast(Word, load<Float>(x + i));
    const Word is_nan = __builtin_bit_cast(Word, (bits & 0x7fffffffu) > 0x7f800000u);
    const Word rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const Word result = (is_nan & ((bits >> 16) | 0x40u)) | (~is_nan & rounded);
    wrong |= __builtin_bit_cast(Word, (result & 0x7f80u) == 0x7f80u);
    store(out + i, __builtin_convertvector(result, Half));
  }
  bool is_wrong = any(wrong);
  for (; i < n; ++i) {
    out[i] = bf16_of(x[i]);
    is_wrong |= (out[i] & 0x7f80u) == 0x7f80u;
  }
  return is_wrong;
}

void from_bf16(const uint16_t* x, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    store(out + i, __builtin_convertvector(load<Half>(x + i), Word) << 16);
  }
  for (; i < n; ++i) {
    out[i] = float_of(static_cast<uint32_t>(x[i]) << 16);
  }
}

}  // namespace

extern const WireKernels kTable;
const WireKernels kTable = {sum,     sum_doubles, sum_into, sum_doubles_into, largest,
                            to_fp16, from_fp16,   to_bf16,  from_bf16};

}  // namespace bertft::wire::BERTFT_WIRE_LEVEL
