// bf16 inputs of matrix products: the rounding against torch's, and linear layers against exact products of rounded
// inputs, with every kernel level and both matrix products.
#include "ops/product_inputs.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/matmul.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/rng.h"
#include "ops/implementation.h"
#include "ops/linear.h"
#include "ops/matrix_product.h"
#include "tests/support/test.h"

namespace bertft::ops {
namespace {

// Sets the precision of products for one scope.
class WithBf16 {
 public:
  WithBf16() { set_product_inputs(ProductInputs::kBf16); }
  ~WithBf16() { set_product_inputs(ProductInputs::kFull); }
};

at::Tensor random_matrix(int64_t rows, int64_t columns, uint64_t seed) {
  at::Tensor x = at::empty({rows, columns}, at::kFloat);
  auto* data = x.mutable_data_ptr<float>();
  for (int64_t i = 0; i < rows * columns; ++i) {
    data[i] = static_cast<float>(counter_normal(stream_key(seed), static_cast<uint64_t>(i)));
  }
  return x;
}

at::Tensor reference_rounding(const at::Tensor& x) { return x.to(at::kBFloat16).to(at::kFloat); }

TEST_CASE("Values are rounded as torch rounds them: ties to even, infinities, zeros, small numbers") {
  std::vector<float> values = {0.0f,
                               -0.0f,
                               1.0f,
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::min()};
  for (uint32_t i = 0; i < 20000; ++i) {
    const auto bits = static_cast<uint32_t>(mix64(i));
    const auto value = std::bit_cast<float>(bits);
    if (!std::isnan(value)) values.push_back(value);
    values.push_back(std::bit_cast<float>((0x3f800000u + (i << 12)) & 0x7f7fffffu));  // many halves
  }
  std::vector<float> rounded(values.size());
  round_to_bf16(values.data(), rounded.data(), static_cast<int64_t>(values.size()));
  const at::Tensor expected = reference_rounding(at::from_blob(values.data(), {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    CAPTURE(values[i]);
    REQUIRE(std::bit_cast<uint32_t>(rounded[i]) == std::bit_cast<uint32_t>(expected.const_data_ptr<float>()[i]));
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  round_to_bf16(&nan, rounded.data(), 1);
  REQUIRE(std::isnan(rounded[0]));
}

TEST_CASE("Without bf16 inputs are taken as they are, and fp64 always") {
  const at::Tensor x = random_matrix(3, 5, 1);
  REQUIRE(as_product_input(x).is_same(x));
  const WithBf16 bf16;
  REQUIRE(at::equal(as_product_input(x), reference_rounding(x)));
  const at::Tensor part = random_matrix(7, 40, 2).narrow(1, 8, 17);  // strided rows
  REQUIRE(at::equal(as_product_input(part), reference_rounding(part)));
  const at::Tensor wide = x.to(at::kDouble);
  REQUIRE(as_product_input(wide).is_same(wide));
}

// Against products of the rounded inputs in fp64: what is left is the rounding of fp32 sums.
void check_product(const at::Tensor& got, const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor exact = at::matmul(reference_rounding(a).to(at::kDouble), reference_rounding(b).to(at::kDouble));
  const at::Tensor unrounded = at::matmul(a.to(at::kDouble), b.to(at::kDouble));
  const double size = exact.norm().item<double>();
  REQUIRE(got.to(at::kDouble).sub(exact).norm().item<double>() < 1e-6 * size);
  REQUIRE(got.to(at::kDouble).sub(unrounded).norm().item<double>() > 1e-4 * size);
}

void check_linear_layer() {
  const at::Tensor x = random_matrix(37, 50, 3);
  const at::Tensor w = random_matrix(29, 50, 4);
  const at::Tensor dy = random_matrix(37, 29, 5);
  check_product(linear(x, w), x, w.t());
  at::Tensor dx = at::empty({37, 50}, at::kFloat);
  linear_backward_input(dy, w, dx, 0.0);
  check_product(dx, dy, w);
  at::Tensor dw = at::empty({29, 50}, at::kFloat);
  linear_backward_weight(dy, x, dw, 0.0);
  check_product(dw, dy.t(), x);
  at::Tensor db = at::empty({29}, at::kFloat);
  bias_backward(dy, db, 0.0);
  REQUIRE(db.to(at::kDouble).sub(dy.to(at::kDouble).sum(0)).abs().max().item<double>() < 1e-5);  // never rounded
}

TEST_CASE("Linear layers multiply rounded inputs and sum in fp32") {
  const WithBf16 bf16;
  const ProductLibrary before = product_library();
  for (const ProductLibrary library : {ProductLibrary::kBlas, ProductLibrary::kOwn}) {
    INFO(product_library_name(library));
    set_product_library(library);
    check_linear_layer();
  }
  set_product_library(before);
  set_implementation(Implementation::kAten);
  check_linear_layer();
  set_implementation(Implementation::kAuto);
}

}  // namespace
}  // namespace bertft::ops
