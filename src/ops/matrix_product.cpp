#include "ops/matrix_product.h"

#include <ATen/ops/empty.h>
#include <omp.h>

#include <cstdlib>

#include "core/error.h"
#include "ops/kernels/cpu_kernels.h"

namespace bertft::ops {
namespace {

bool is_intel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

ProductLibrary choose_library() {
  const char* wanted = std::getenv("BERTFT_PRODUCTS");
  if (wanted == nullptr || *wanted == '\0') {
    const bool has_vectors = instruction_set() != InstructionSet::kScalar;
    return has_vectors && !is_intel() ? ProductLibrary::kOwn : ProductLibrary::kBlas;
  }
  for (const ProductLibrary library : {ProductLibrary::kBlas, ProductLibrary::kOwn}) {
    if (wanted == product_library_name(library)) return library;
  }
  throw ConfigError(std::string("BERTFT_PRODUCTS=") + wanted + ": known are blas, own");
}

ProductLibrary& current_library() {
  static ProductLibrary library = choose_library();
  return library;
}

void scale_rows(const ProductSize& size, float beta, Matrix c) {
  for (int64_t row = 0; row < size.rows; ++row) {
    float* values = c.data + row * c.stride;
    for (int64_t i = 0; i < size.columns; ++i) {
      values[i] = beta == 0.0f ? 0.0f : beta * values[i];
    }
  }
}

}  // namespace

ProductLibrary product_library() { return current_library(); }

void set_product_library(ProductLibrary library) { current_library() = library; }

std::string product_library_name(ProductLibrary library) { return library == ProductLibrary::kOwn ? "own" : "blas"; }

void multiply_by_kernel(const ProductSize& size, const Factor& a, const Factor& b, float beta, Matrix c) {
  const int64_t floats = cpu_kernels().product_scratch_floats(size.columns, size.depth, omp_get_max_threads());
  const at::Tensor scratch = at::empty({floats}, at::kFloat);
  cpu_kernels().multiply_matrices({.rows = size.rows,
                                   .columns = size.columns,
                                   .depth = size.depth,
                                   .a = a.matrix,
                                   .b = b.matrix,
                                   .a_transposed = a.transposed == Transposed::kYes,
                                   .b_transposed = b.transposed == Transposed::kYes,
                                   .beta = beta,
                                   .c = c,
                                   .scratch = scratch.mutable_data_ptr<float>()});
}

void multiply_matrices(const ProductSize& size, const Factor& a, const Factor& b, float beta, Matrix c) {
  if (size.rows == 0 || size.columns == 0) return;
  if (size.depth == 0) return scale_rows(size, beta, c);
  if (product_library() == ProductLibrary::kOwn) {
    multiply_by_kernel(size, a, b, beta, c);
  } else {
    multiply_by_blas(size, a, b, beta, c);
  }
}

}  // namespace bertft::ops
