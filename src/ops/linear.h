// Matrix products of linear layers, without bias (the operation that follows adds it). Rows may be strided (column
// slices of a wider matrix) as long as the last dimension is contiguous. fp32 on the CPU takes matrix_product.h; the
// inputs are rounded first when product_inputs.h says so.
#pragma once

#include <ATen/core/Tensor.h>

namespace bertft::ops {

// y = x w^T: x [T, I], w [O, I] -> y [T, O], newly allocated.
at::Tensor linear(const at::Tensor& x, const at::Tensor& w);

// dx = dy w + beta dx: dy [T, O], w [O, I], dx [T, I]. With beta = 0 dx is not read.
void linear_backward_input(const at::Tensor& dy, const at::Tensor& w, at::Tensor& dx, double beta);

// dw = dy^T x + beta dw: dy [T, O], x [T, I], dw [O, I]. With beta = 0 dw is not read.
void linear_backward_weight(const at::Tensor& dy, const at::Tensor& x, at::Tensor& dw, double beta);

// db = column sums of dy + beta db: dy [T, O], db [O]. Summed in fixed blocks of rows, whatever the number of threads.
void bias_backward(const at::Tensor& dy, at::Tensor& db, double beta);

}  // namespace bertft::ops
