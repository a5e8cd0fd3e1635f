// The kernel of large matrix products against plain loops, for every remainder of tiles, panels and passes.
#include <omp.h>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "tests/support/test.h"
#include "tests/unit/ops/kernels/kernel_testing.h"

namespace bertft::ops::test {
namespace {

struct ProductCase {
  int64_t rows, columns, depth;
};

std::vector<ProductCase> product_cases() {
  std::vector<ProductCase> cases = {{1, 1, 1},      {1, 384, 20},  {130, 33, 257}, {113, 70, 16},
                                    {57, 128, 600}, {14, 32, 256}, {15, 31, 17},   {225, 97, 300}};
  for (int64_t size = 1; size <= 17; ++size) {
    cases.push_back({size, 35 - size, size + 2});
  }
  return cases;
}

// Row-major [rows, columns] or its transpose, with a few floats between the rows; element(i, k) is op(x)(i, k).
struct Operand {
  Operand(int64_t rows, int64_t columns, bool is_transposed_, uint64_t seed)
      : is_transposed(is_transposed_), stride((is_transposed ? rows : columns) + 5) {
    const int64_t stored_rows = is_transposed ? columns : rows;
    values = random_values((stored_rows - 1) * stride + stride - 5, seed);
  }
  double element(int64_t i, int64_t k) const {
    return values[static_cast<size_t>(is_transposed ? k * stride + i : i * stride + k)];
  }
  bool is_transposed;
  int64_t stride;
  std::vector<float> values;
};

std::vector<double> expected_product(const ProductCase& shape, const Operand& a, const Operand& b, double start) {
  std::vector<double> product;
  for (int64_t i = 0; i < shape.rows; ++i) {
    for (int64_t j = 0; j < shape.columns; ++j) {
      double sum = start;
      for (int64_t k = 0; k < shape.depth; ++k) {
        sum += a.element(i, k) * b.element(k, j);
      }
      product.push_back(sum);
    }
  }
  return product;
}

std::vector<float> kernel_product(const CpuKernels& kernels, const ProductCase& shape, const Operand& a,
                                  const Operand& b, float beta, float start) {
  const int64_t floats = kernels.product_scratch_floats(shape.columns, shape.depth, omp_get_max_threads());
  const size_t bytes = (static_cast<size_t>(floats) * sizeof(float) + 63) / 64 * 64;
  const std::unique_ptr<float, decltype(&std::free)> scratch(static_cast<float*>(std::aligned_alloc(64, bytes)),
                                                             &std::free);
  std::vector<float> c(static_cast<size_t>(shape.rows * shape.columns), start);
  kernels.multiply_matrices({shape.rows,
                             shape.columns,
                             shape.depth,
                             {a.values.data(), a.stride},
                             {b.values.data(), b.stride},
                             a.is_transposed,
                             b.is_transposed,
                             beta,
                             {c.data(), shape.columns},
                             scratch.get()});
  return c;
}

}  // namespace

TEST_CASE("matrix products agree with plain loops") {
  for (const ProductCase& shape : product_cases()) {
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        const Operand a(shape.rows, shape.depth, a_transposed, 1), b(shape.depth, shape.columns, b_transposed, 2);
        const std::vector<double> overwritten = expected_product(shape, a, b, 0.0);
        const std::vector<double> added = expected_product(shape, a, b, 0.5 * 3.0);
        for_each_level([&](const CpuKernels& kernels, InstructionSet level) {
          CAPTURE(instruction_set_name(level), shape.rows, shape.columns, shape.depth, a_transposed, b_transposed);
          CHECK(distance(kernel_product(kernels, shape, a, b, 0.0f, NAN), overwritten) < 1e-6);
          CHECK(distance(kernel_product(kernels, shape, a, b, 0.5f, 3.0f), added) < 1e-6);
        });
      }
    }
  }
}

TEST_CASE("matrix products give the same bits for any number of threads") {
  const ProductCase shape = {230, 150, 700};
  const Operand a(shape.rows, shape.depth, false, 1), b(shape.depth, shape.columns, true, 2);
  const int usual = omp_get_max_threads();
  for_each_level([&](const CpuKernels& kernels, InstructionSet level) {
    omp_set_num_threads(1);
    const std::vector<float> one = kernel_product(kernels, shape, a, b, 0.0f, 0.0f);
    for (const int threads : {2, 3, 7}) {
      omp_set_num_threads(threads);
      CAPTURE(instruction_set_name(level), threads);
      CHECK(kernel_product(kernels, shape, a, b, 0.0f, 0.0f) == one);
    }
  });
  omp_set_num_threads(usual);
}

}  // namespace bertft::ops::test
