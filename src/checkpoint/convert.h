// Copies a tensor of floating point elements into working precision, and looks for elements that are not finite.
// Stored halves are widened exactly: subnormals, signed zeros, infinities and NaN keep their value.
#pragma once

#include <cstdint>

#include "checkpoint/tensor.h"

namespace bertft {

// True for F64, F32, F16 and BF16: what the functions below read. They throw CheckpointError for every other type.
bool is_weight_dtype(DType dtype);

// Writes element_count(view.shape) values to `out`, which must not overlap the view; the view may be unaligned.
// F64 into float is rounded to nearest, and becomes infinite beyond float's range.
void copy_to_f32(const TensorView& view, float* out);
void copy_to_f64(const TensorView& view, double* out);

// Index of the first element that is NaN, infinite or (F64) beyond float's range; -1 when all are finite.
int64_t first_non_finite(const TensorView& view);

}  // namespace bertft
