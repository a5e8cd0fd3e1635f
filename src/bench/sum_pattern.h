// The numbers that a benchmark sums: every rank's contribution is a known function of rank, element and round, so every
// element of every sum can be checked.
#pragma once

#include <cstdint>
#include <optional>

#include "comm/wire/wire_type.h"

namespace bertft {

// Whole numbers, as many different ones as the wire can sum without rounding in any order: then a sum is right or
// wrong, and nothing in between.
class SumPattern {
 public:
  // REQUIRES ranks > 0.
  SumPattern(int ranks, WireType wire);

  // 0 where all sums are exact: up to 256 ranks with bf16, 2,048 with fp16, 16 million with fp32.
  double tolerance() const { return tolerance_; }

  float value(int rank, int64_t round, int64_t element) const;
  float expected(int64_t round, int64_t element) const;

  void fill(float* values, int64_t elements, int rank, int64_t round) const;

  struct Wrong {
    int64_t element = 0;  // the first one
    float found = 0.0f;
    float expected = 0.0f;
    int64_t count = 0;
  };
  // Compares every element. None: all are right.
  std::optional<Wrong> find_wrong(const float* sums, int64_t elements, int64_t round) const;

 private:
  int32_t whole(uint32_t seed, int64_t element) const;

  int ranks_;
  int32_t largest_;  // of a contribution
  double tolerance_ = 0.0;
};

}  // namespace bertft
