// Counter-based dropout: whether an element is dropped is a pure function of its sequence's key and its index inside
// the sequence, so nothing is stored and batching, packing and ranks do not change it (core/rng.h, counter_bits).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ops/sequences.h"

namespace bertft::ops {

// Element (row r of sequence s, column c) of a [T, width] matrix is dropped when
// counter_bits(keys[s], r * width + c) < dropout_threshold(probability), r counted from the start of the sequence; in
// attention, probability (head h, query i, key j) of a sequence of n tokens has the index (h * n + i) * n + j. Indices
// are taken modulo 2^32. Kept elements are scaled by 1 / (1 - probability).
struct Dropout {
  double probability = 0.0;
  std::vector<uint64_t> keys;  // one per sequence; unused when not active

  bool is_active() const { return probability > 0.0; }
};

// The factors themselves, 0 or 1 / (1 - p), [T, width], of the type and device of `like`. From ATen operations only:
// the reference of the kernels, and the way on devices without one. REQUIRES dropout.is_active().
at::Tensor dropout_factors(const Sequences& sequences, int64_t width, const Dropout& dropout, const at::Tensor& like);

// x [T, width] times the factors, for use in heads; differentiable through ATen's autograd. Returns x when not active.
at::Tensor dropout(const at::Tensor& x, const Sequences& sequences, const Dropout& settings);

}  // namespace bertft::ops
