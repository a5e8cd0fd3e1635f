#include "bench/sum_pattern.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/error.h"

namespace bertft {
namespace {

constexpr int64_t kBlock = 4096;  // elements whose sums stay in the cache

// Bits of a whole number that the type holds exactly.
int exact_bits(WireType wire) {
  switch (wire) {
    case WireType::kFp32:
      return 24;
    case WireType::kBf16:
      return 8;
    case WireType::kFp16:
    case WireType::kMixed:
      break;
  }
  return 11;
}

uint32_t mixed(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  return x ^ (x >> 16);
}

uint32_t seed_of(int rank, int64_t round) {
  return mixed(static_cast<uint32_t>(round) * 0x9E3779B1u + static_cast<uint32_t>(rank) + 1u);
}

}  // namespace

SumPattern::SumPattern(int ranks, WireType wire) : ranks_(ranks) {
  check(ranks > 0, "a world has ranks");
  const int32_t exact = int32_t{1} << exact_bits(wire);
  largest_ = std::max(exact / ranks, 1);
  // A sum is rounded at most twice on its way: as the contribution of a node, and as the result.
  if (ranks > exact) tolerance_ = 2.0 * ranks / exact;
}

int32_t SumPattern::whole(uint32_t seed, int64_t element) const {
  const uint32_t bits = mixed(seed + static_cast<uint32_t>(element));
  const uint64_t range = 2 * static_cast<uint64_t>(largest_) + 1;
  return static_cast<int32_t>((bits * range) >> 32) - largest_;
}

float SumPattern::value(int rank, int64_t round, int64_t element) const {
  return static_cast<float>(whole(seed_of(rank, round), element));
}

float SumPattern::expected(int64_t round, int64_t element) const {
  int32_t sum = 0;
  for (int rank = 0; rank < ranks_; ++rank) sum += whole(seed_of(rank, round), element);
  return static_cast<float>(sum);
}

void SumPattern::fill(float* values, int64_t elements, int rank, int64_t round) const {
  const uint32_t seed = seed_of(rank, round);
  for (int64_t i = 0; i < elements; ++i) values[i] = static_cast<float>(whole(seed, i));
}

std::optional<SumPattern::Wrong> SumPattern::find_wrong(const float* sums, int64_t elements, int64_t round) const {
  std::optional<Wrong> wrong;
  std::array<int32_t, kBlock> expected_sums;
  for (int64_t begin = 0; begin < elements; begin += kBlock) {
    const int64_t size = std::min(kBlock, elements - begin);
    expected_sums.fill(0);
    for (int rank = 0; rank < ranks_; ++rank) {
      const uint32_t seed = seed_of(rank, round);
      for (int64_t i = 0; i < size; ++i) expected_sums[static_cast<size_t>(i)] += whole(seed, begin + i);
    }
    for (int64_t i = 0; i < size; ++i) {
      const auto sum = static_cast<float>(expected_sums[static_cast<size_t>(i)]);
      const float found = sums[begin + i];
      if (std::abs(static_cast<double>(found) - static_cast<double>(sum)) <= tolerance_) continue;  // false for a NaN
      if (!wrong) wrong = Wrong{begin + i, found, sum, 0};
      ++wrong->count;
    }
  }
  return wrong;
}

}  // namespace bertft
