// How a packed batch is divided: rows of an activation matrix [T, H] belong to sequences one after another, no padding.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace bertft::ops {

// Sequence s owns rows offsets[s] .. offsets[s + 1] - 1. Plain data on the host; immutable once made.
struct Sequences {
  std::vector<int32_t> offsets;  // [S + 1], offsets[0] == 0, increasing; every sequence has at least one row
  int64_t max_length = 0;

  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t rows() const { return offsets.back(); }
};

// `count` sequences of one row each: the shape of a matrix that holds only the first row of every sequence.
Sequences single_rows(int64_t count);

// Row indices offsets[s] of the first row of every sequence, int64 [S] on `device`.
at::Tensor first_rows(const Sequences& sequences, at::Device device);

}  // namespace bertft::ops
