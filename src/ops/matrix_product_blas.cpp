// Matrix products through the Fortran symbol that LibTorch exports of its MKL.
#include <algorithm>
#include <limits>

#include "core/error.h"
#include "ops/matrix_product.h"

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

}  // namespace

void multiply_by_blas(const ProductSize& size, const Factor& a, const Factor& b, float beta, Matrix c) {
  // Row-major c = op(a) op(b) is column-major c^T = op(b)^T op(a)^T.
  const char trans_b = b.transposed == Transposed::kYes ? 'T' : 'N';
  const char trans_a = a.transposed == Transposed::kYes ? 'T' : 'N';
  const int m = blas_size(size.columns), n = blas_size(size.rows), k = blas_size(size.depth);
  const int ldb = blas_size(b.matrix.stride), lda = blas_size(a.matrix.stride), ldc = blas_size(c.stride);
  const float one = 1.0f;
  sgemm_(&trans_b, &trans_a, &m, &n, &k, &one, b.matrix.data, &ldb, a.matrix.data, &lda, &beta, c.data, &ldc);
}

}  // namespace bertft::ops
