// Counter-based randomness: every random number is a pure function of what it is for (seed, step, row, place), so
// nothing is stored and nothing depends on threads, ranks, micro-batches or the order of evaluation.
#pragma once

#include <cstdint>
#include <vector>

namespace bertft {

// The finalizer of splitmix64 (Steele, Lea, Flood 2014) on one step of its sequence: a bijection of 64-bit words.
inline uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// The key of a stream named by a chain of words, for example stream_key(seed, step, row, part, layer, site).
template <typename... Words>
uint64_t stream_key(uint64_t seed, Words... words) {
  uint64_t key = mix64(seed);
  ((key = mix64(key ^ mix64(static_cast<uint64_t>(words)))), ...);
  return key;
}

// 32 random bits for element `index` of the stream `key`. Only 32-bit operations, so that it vectorizes.
inline uint32_t counter_bits(uint64_t key, uint32_t index) {
  uint32_t x = index + static_cast<uint32_t>(key);
  x ^= x >> 16;
  x *= 0x21F0AAADu;
  x ^= static_cast<uint32_t>(key >> 32);
  x ^= x >> 15;
  x *= 0x735A2D97u;
  x ^= x >> 15;
  return x;
}

// Dropout keeps an element when counter_bits(...) >= dropout_threshold(p), so it is dropped with probability p
// to within 2^-32. REQUIRES 0 <= p < 1.
uint32_t dropout_threshold(double probability);

// The permutation of 0..count-1 that `key` names (Fisher-Yates, bounded draws without bias).
std::vector<int64_t> permutation(int64_t count, uint64_t key);

// Normal draws for the initial values of new parameters: element `index` of stream `key`, mean 0, deviation 1
// (Box-Muller in double precision). The same bits on every machine.
double counter_normal(uint64_t key, uint64_t index);

}  // namespace bertft
