// What becomes of the inputs of matrix products before they are multiplied: precision bf16 rounds them.
//
// bf16 here means: both inputs of every product of ops/linear.h (the encoder's and the head's linear layers, forward
// and backward) are rounded to bfloat16, to nearest, ties to even, and the products are summed in fp32. Everything else
// is fp32: weights and their updates, biases and their gradients, LayerNorm, softmax, loss, and the small products
// inside attention (scores and contexts), which cost little and lose most. That is what a bf16 unit (AMX, AVX512_BF16)
// computes, up to the order of sums; here the rounded values are multiplied by the fp32 products, so it is no faster
// than fp32.
#pragma once

#include <ATen/core/Tensor.h>

namespace bertft::ops {

enum class ProductInputs { kFull, kBf16 };

// Of the process; kFull at start. Not thread-safe: call between operations.
void set_product_inputs(ProductInputs inputs);
ProductInputs product_inputs();

// x itself, or with kBf16 a contiguous copy rounded to bfloat16 when x is fp32 (fp64 is never rounded). NaN stays NaN,
// values beyond the largest finite bfloat16 become infinite. x: a matrix whose rows may be strided.
at::Tensor as_product_input(const at::Tensor& x);

// The rounding itself, for one row of values.
void round_to_bf16(const float* values, float* rounded, int64_t count);

}  // namespace bertft::ops
