// Products of fp32 matrices on the CPU: by the BLAS inside LibTorch or by our own kernel, whichever suits the
// processor.
#pragma once

#include <string>

#include "ops/kernels/kernel_table.h"

namespace bertft::ops {

enum class Transposed { kNo, kYes };

// A factor of a product: op(matrix), where op transposes or not.
struct Factor {
  ConstMatrix matrix;
  Transposed transposed = Transposed::kNo;
};

struct ProductSize {
  int64_t rows, columns, depth;
};

// c = op(a) op(b) + beta c: op(a) [rows, depth], op(b) [depth, columns], c [rows, columns]. With beta = 0 c is not
// read. Any size may be 0.
void multiply_matrices(const ProductSize& size, const Factor& a, const Factor& b, float beta, Matrix c);

enum class ProductLibrary {
  kBlas,  // MKL
  kOwn,   // our kernel, the same bits for any number of threads
};

// kBlas on Intel processors and where our kernels have no vector instructions: MKL is at full speed there. kOwn
// elsewhere: on AMD's, MKL has no code for AVX-512 and reaches half the speed. Or what BERTFT_PRODUCTS=blas|own says
// (else ConfigError). Constant for the process but for the function below.
ProductLibrary product_library();
std::string product_library_name(ProductLibrary library);

// For ranks that agree on one library, for tests and benchmarks. Not thread-safe.
void set_product_library(ProductLibrary library);

// The two ways themselves. No size may be 0.
void multiply_by_blas(const ProductSize& size, const Factor& a, const Factor& b, float beta, Matrix c);
void multiply_by_kernel(const ProductSize& size, const Factor& a, const Factor& b, float beta, Matrix c);

}  // namespace bertft::ops
