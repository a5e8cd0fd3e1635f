// Tensors as the kernels see them. Tensors must be fp32 on the CPU with contiguous rows (use_own_kernels()).
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>

#include "core/rng.h"
#include "ops/dropout.h"
#include "ops/kernels/kernel_table.h"
#include "ops/sequences.h"

namespace bertft::ops {

// A matrix of one row may have any stride; the kernels want at least its width.
inline int64_t row_stride(const at::Tensor& x) { return std::max(x.stride(0), x.size(1)); }

inline Matrix matrix(const at::Tensor& x) { return {x.mutable_data_ptr<float>(), row_stride(x)}; }
inline ConstMatrix const_matrix(const at::Tensor& x) { return {x.const_data_ptr<float>(), row_stride(x)}; }
inline float* vector(const at::Tensor& x) { return x.mutable_data_ptr<float>(); }
inline const float* const_vector(const at::Tensor& x) { return x.const_data_ptr<float>(); }

inline RowRanges row_ranges(const Sequences& sequences) { return {sequences.offsets.data(), sequences.count()}; }

// Valid as long as `dropout` lives.
inline DropoutStream dropout_stream(const Dropout& dropout) {
  if (!dropout.is_active()) return {nullptr, 0, 1.0f};
  return {dropout.keys.data(), dropout_threshold(dropout.probability),
          static_cast<float>(1.0 / (1.0 - dropout.probability))};
}

}  // namespace bertft::ops
