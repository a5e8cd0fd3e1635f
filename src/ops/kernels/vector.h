// A vector of floats of the width of the instruction set that this file is compiled for (BERTFT_KERNEL_LEVEL: avx512,
// avx2 or scalar), with the few operations that the kernels need. Everything lives in the level's own namespace and is
// inlined, so that no code for one level can be linked into another.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define BERTFT_INLINE static inline __attribute__((always_inline))

namespace bertft::ops::BERTFT_KERNEL_LEVEL {

#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX2__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;  // what every x86-64 and ARMv8 processor has; plain code elsewhere
#endif

using Float = float __attribute__((vector_size(kWidth * 4)));
using Int = int32_t __attribute__((vector_size(kWidth * 4)));
using Word = uint32_t __attribute__((vector_size(kWidth * 4)));

BERTFT_INLINE Float broadcast(float x) { return x - Float{}; }
BERTFT_INLINE Word broadcast(uint32_t x) { return x - Word{}; }

BERTFT_INLINE Float load(const float* from) {
  Float x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}

BERTFT_INLINE void store(float* to, Float x) { __builtin_memcpy(to, &x, sizeof x); }

// 0, 1, 2, ...
BERTFT_INLINE Word iota() {
  Word x{};
  for (int i = 0; i < kWidth; ++i) {
    x[i] = static_cast<uint32_t>(i);
  }
  return x;
}

BERTFT_INLINE Float select(Int mask, Float yes, Float no) { return mask ? yes : no; }

// All ones in the first `count` lanes.
BERTFT_INLINE Int first_lanes(int64_t count) { return iota() < broadcast(static_cast<uint32_t>(count)); }

// The first `count` elements, 0 in the other lanes; nothing behind them is read or written.
BERTFT_INLINE Float load_part(const float* from, int64_t count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1u), from);
#elif defined(__AVX2__)
  return _mm256_maskload_ps(from, __builtin_bit_cast(__m256i, first_lanes(count)));
#else
  Float x{};
  for (int64_t i = 0; i < count; ++i) {
    x[i] = from[i];
  }
  return x;
#endif
}

BERTFT_INLINE void store_part(float* to, Float x, int64_t count) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1u), x);
#elif defined(__AVX2__)
  _mm256_maskstore_ps(to, __builtin_bit_cast(__m256i, first_lanes(count)), x);
#else
  for (int64_t i = 0; i < count; ++i) {
    to[i] = x[i];
  }
#endif
}

// a b + c, rounded once where the processor can.
BERTFT_INLINE Float multiply_add(Float a, Float b, Float c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

// The larger of both; b where either is not a number.
BERTFT_INLINE Float larger(Float a, Float b) {
#if defined(__AVX512F__)
  return _mm512_max_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_max_ps(a, b);
#else
  return select(a > b, a, b);
#endif
}

// The smaller of both; b where either is not a number.
BERTFT_INLINE Float smaller(Float a, Float b) {
#if defined(__AVX512F__)
  return _mm512_min_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_min_ps(a, b);
#else
  return select(a < b, a, b);
#endif
}

// Lanes combined in the same fixed tree at every call.
BERTFT_INLINE float sum_of_lanes(Float x) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_ps(x);
#else
  for (int half = kWidth / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) {
      x[i] += x[i + half];
    }
  }
  return x[0];
#endif
}

BERTFT_INLINE float largest_lane(Float x) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_ps(x);
#else
  float result = x[0];
  for (int i = 1; i < kWidth; ++i) {
    result = result > x[i] ? result : x[i];
  }
  return result;
#endif
}

// How many lanes of a vector hold elements: all, or the first few at the end of a row.
struct AllLanes {};
struct SomeLanes {
  int64_t count;
};

BERTFT_INLINE Float load(const float* from, AllLanes) { return load(from); }
BERTFT_INLINE Float load(const float* from, SomeLanes lanes) { return load_part(from, lanes.count); }
BERTFT_INLINE void store(float* to, Float x, AllLanes) { store(to, x); }
BERTFT_INLINE void store(float* to, Float x, SomeLanes lanes) { store_part(to, x, lanes.count); }
// x with 0 in the lanes that hold no element.
BERTFT_INLINE Float masked(Float x, AllLanes) { return x; }
BERTFT_INLINE Float masked(Float x, SomeLanes lanes) { return select(first_lanes(lanes.count), x, Float{}); }

BERTFT_INLINE constexpr int64_t count_of(AllLanes) { return kWidth; }
BERTFT_INLINE constexpr int64_t count_of(SomeLanes lanes) { return lanes.count; }

// Calls body(column, lanes) for each vector of a row.
template <typename Body>
BERTFT_INLINE void for_each_vector(int64_t width, const Body& body) {
  int64_t column = 0;
  for (; column + kWidth <= width; column += kWidth) {
    body(column, AllLanes{});
  }
  if (column < width) body(column, SomeLanes{width - column});
}

// Put behind the parameters of a body: its code becomes part of the loop.
#define BERTFT_INLINE_BODY __attribute__((always_inline))

// One step of a transposition: exchanges the off-diagonal blocks of `kStep` lanes and rows.
template <int kStep>
BERTFT_INLINE void exchange_blocks(Float (&rows)[kWidth]) {
  Int low{}, high{};
  for (int j = 0; j < kWidth; ++j) {
    low[j] = (j & kStep) != 0 ? kWidth + j - kStep : j;
    high[j] = (j & kStep) != 0 ? kWidth + j : j + kStep;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kWidth; ++i) {
    if ((i & kStep) != 0) continue;
    const Float a = rows[i], b = rows[i + kStep];
    rows[i] = __builtin_shuffle(a, b, low);
    rows[i + kStep] = __builtin_shuffle(a, b, high);
  }
}

BERTFT_INLINE void transpose(Float (&rows)[kWidth]) {
  exchange_blocks<1>(rows);
  exchange_blocks<2>(rows);
  if constexpr (kWidth > 4) exchange_blocks<4>(rows);
  if constexpr (kWidth > 8) exchange_blocks<8>(rows);
}

}  // namespace bertft::ops::BERTFT_KERNEL_LEVEL
