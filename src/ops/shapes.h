// Checks of shapes, types and strides at the doors of the operations: a mismatch is a bug of the caller, named here
// instead of a crash inside a kernel.
#pragma once

#include <ATen/core/Tensor.h>

#include "ops/dropout.h"
#include "ops/sequences.h"

namespace bertft::ops {

// Throws InternalError unless x is [rows, columns], its rows contiguous, of the type and device of `like`.
void check_matrix(const at::Tensor& x, int64_t rows, int64_t columns, const at::Tensor& like, const char* name);

// Throws InternalError unless x is [size], contiguous, of the type and device of `like`.
void check_vector(const at::Tensor& x, int64_t size, const at::Tensor& like, const char* name);

// Throws InternalError unless offsets start at 0, increase, and max_length is the longest sequence.
void check_sequences(const Sequences& sequences);

// Throws InternalError unless active dropout has a probability below 1 and one key per sequence.
void check_dropout(const Dropout& dropout, const Sequences& sequences);

}  // namespace bertft::ops
