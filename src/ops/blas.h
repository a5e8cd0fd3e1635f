// Single-precision matrix products through the BLAS inside LibTorch, for row-major matrices.
#pragma once

#include "ops/kernels/kernel_table.h"

namespace bertft::ops {

enum class Transposed { kNo, kYes };

// A factor of a product: op(matrix), where op transposes or not.
struct Factor {
  ConstMatrix matrix;
  Transposed transposed = Transposed::kNo;
};

// c = op(a) op(b) + beta c: op(a) [rows, depth], op(b) [depth, columns], c [rows, columns]. With beta = 0 c is not
// read. Any size may be 0.
struct ProductSize {
  int64_t rows, columns, depth;
};
void multiply_matrices(const ProductSize& size, const Factor& a, const Factor& b, float beta, Matrix c);

}  // namespace bertft::ops
