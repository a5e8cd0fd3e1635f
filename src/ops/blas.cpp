#include "ops/blas.h"

#include <algorithm>
#include <limits>

#include "core/error.h"

// The Fortran interface, column-major, with 32-bit sizes.
extern "C" void sgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
                       const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
                       const float* beta, float* c, const int* ldc);

namespace bertft::ops {
namespace {

int blas_size(int64_t size) {
  check(size <= std::numeric_limits<int>::max(), "a matrix is too large for the BLAS");
  return static_cast<int>(size);
}

// A leading dimension is at least 1, also of a matrix without elements.
int leading_dimension(int64_t stride) { return std::max(1, blas_size(stride)); }

void scale_rows(const ProductSize& size, float beta, Matrix c) {
  for (int64_t row = 0; row < size.rows; ++row) {
    float* values = c.data + row * c.stride;
    for (int64_t i = 0; i < size.columns; ++i) {
      values[i] = beta == 0.0f ? 0.0f : beta * values[i];
    }
  }
}

}  // namespace

void multiply_matrices(const ProductSize& size, const Factor& a, const Factor& b, float beta, Matrix c) {
  if (size.rows == 0 || size.columns == 0) return;
  if (size.depth == 0) return scale_rows(size, beta, c);
  // Row-major c = op(a) op(b) is column-major c^T = op(b)^T op(a)^T.
  const char trans_b = b.transposed == Transposed::kYes ? 'T' : 'N';
  const char trans_a = a.transposed == Transposed::kYes ? 'T' : 'N';
  const int m = blas_size(size.columns), n = blas_size(size.rows), k = blas_size(size.depth);
  const int ldb = leading_dimension(b.matrix.stride), lda = leading_dimension(a.matrix.stride);
  const int ldc = leading_dimension(c.stride);
  const float one = 1.0f;
  sgemm_(&trans_b, &trans_a, &m, &n, &k, &one, b.matrix.data, &ldb, a.matrix.data, &lda, &beta, c.data, &ldc);
}

}  // namespace bertft::ops
