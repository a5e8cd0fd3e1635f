// exp, log and the normal distribution on vectors, and the random bits of dropout. Polynomials are minimax fits
// (Remez); errors are about 1 to 3 units in the last place, and not-a-number stays not-a-number.
#pragma once

#include "ops/kernels/kernel_table.h"
#include "ops/kernels/vector.h"

namespace bertft::ops::BERTFT_KERNEL_LEVEL {

constexpr int kMantissaBits = 23;
constexpr uint32_t kExponentBias = 127;

// exp(x + residual) for x up to about 0; |residual| is tiny: what rounding took from x. Below -87 the result is
// exp(-87), 1.6e-38.
BERTFT_INLINE Float exp_of_negative(Float x, Float residual) {
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  x = larger(broadcast(-87.0f), x);
  const Float shifted = multiply_add(x, broadcast(kLog2E), broadcast(kRounder));
  const Float n = shifted - broadcast(kRounder);
  const Float r = multiply_add(n, broadcast(-kLn2Low), multiply_add(n, broadcast(-kLn2High), x)) + residual;
  Float p = broadcast(0.001381446572f);
  p = multiply_add(p, r, broadcast(0.008368780446f));
  p = multiply_add(p, r, broadcast(0.04166839424f));
  p = multiply_add(p, r, broadcast(0.1666652011f));
  p = multiply_add(p, r, broadcast(0.4999999341f));
  p = multiply_add(p, r * r, r) + broadcast(1.0f);
  const Word power = (__builtin_bit_cast(Word, shifted) + broadcast(kExponentBias)) << kMantissaBits;  // 2^n
  return p * __builtin_bit_cast(Float, power);
}

BERTFT_INLINE Float exp_of_negative(Float x) { return exp_of_negative(x, Float{}); }

// log(x) for positive normal x.
BERTFT_INLINE Float log_of_positive(Float x) {
  constexpr uint32_t kRootHalfBits = 0x3F3504F3;  // sqrt(1/2): the mantissa is brought to [sqrt(1/2), sqrt(2))
  const Word offset = __builtin_bit_cast(Word, x) - broadcast(kRootHalfBits);
  const Int exponent = __builtin_bit_cast(Int, offset) >> kMantissaBits;
  const Word mantissa = (offset & broadcast((1u << kMantissaBits) - 1u)) + broadcast(kRootHalfBits);
  const Float f = __builtin_bit_cast(Float, mantissa) - broadcast(1.0f);
  const Float e = __builtin_convertvector(exponent, Float);
  Float p = broadcast(0.08672171086f);
  p = multiply_add(p, f, broadcast(-0.1437942684f));
  p = multiply_add(p, f, broadcast(0.1497818232f));
  p = multiply_add(p, f, broadcast(-0.1656438112f));
  p = multiply_add(p, f, broadcast(0.1995485425f));
  p = multiply_add(p, f, broadcast(-0.2500169873f));
  p = multiply_add(p, f, broadcast(0.3333416581f));
  const Float square = f * f;
  const Float log_mantissa = f + square * multiply_add(p, f, broadcast(-0.5f));
  return multiply_add(e, broadcast(0.69314718f), log_mantissa) + (x - x);
}

// The normal distribution at u: Phi(u), and exp(-u^2 / 2).
struct Normal {
  Float cumulative, exponential;
};

BERTFT_INLINE Normal normal_distribution(Float u) {
  // 1 - Phi(|u|) = exp(-u^2 / 2) t Q(t) with t = 3 / (3 + |u|): relatively exact in the tails, too.
  const Float magnitude = __builtin_bit_cast(Float, __builtin_bit_cast(Word, u) & broadcast(0x7FFFFFFFu));
  const Float bounded = smaller(broadcast(15.0f), magnitude);  // whose square is finite
  const Float square = bounded * bounded;
  const Float lost = multiply_add(bounded, bounded, -square);
  const Float exponential = exp_of_negative(square * broadcast(-0.5f), lost * broadcast(-0.5f));
  const Float t = broadcast(3.0f) / (magnitude + broadcast(3.0f));
  Float q = broadcast(-0.02276398242f);
  q = multiply_add(q, t, broadcast(0.1295946538f));
  q = multiply_add(q, t, broadcast(-0.2712779641f));
  q = multiply_add(q, t, broadcast(0.2189547125f));
  q = multiply_add(q, t, broadcast(-0.05337153748f));
  q = multiply_add(q, t, broadcast(0.1199161783f));
  q = multiply_add(q, t, broadcast(0.1124179736f));
  q = multiply_add(q, t, broadcast(0.1335751265f));
  q = multiply_add(q, t, broadcast(0.1329548806f));
  const Float tail = exponential * (t * q);
  return {select(u < Float{}, tail, broadcast(1.0f) - tail), exponential};
}

// The key of one sequence's dropout, see counter_bits of core/rng.h.
struct CounterKey {
  Word low, high;
};

BERTFT_INLINE CounterKey counter_key(uint64_t key) {
  return {broadcast(static_cast<uint32_t>(key)), broadcast(static_cast<uint32_t>(key >> 32))};
}

// counter_bits(key, index) >= threshold in each lane.
BERTFT_INLINE Int is_kept(const CounterKey& key, Word index, Word threshold) {
  Word x = index + key.low;
  x ^= x >> 16;
  x *= broadcast(0x21F0AAADu);
  x ^= key.high;
  x ^= x >> 15;
  x *= broadcast(0x735A2D97u);
  x ^= x >> 15;
  return x >= threshold;
}

}  // namespace bertft::ops::BERTFT_KERNEL_LEVEL
