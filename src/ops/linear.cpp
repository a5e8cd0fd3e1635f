#include "ops/linear.h"

#include <ATen/ops/empty.h>

#include "core/error.h"
#include "core/profile.h"
#include "ops/aten_path.h"
#include "ops/implementation.h"
#include "ops/kernels/cpu_kernels.h"
#include "ops/matrix_product.h"
#include "ops/product_inputs.h"
#include "ops/raw.h"
#include "ops/shapes.h"

namespace bertft::ops {
namespace {

void check_defined_matrices(const at::Tensor& a, const at::Tensor& b) {
  check(a.defined() && b.defined() && a.dim() == 2 && b.dim() == 2, "linear layers take matrices");
}

// The product of an [m, k] and a [k, n] matrix.
ProfileWork product_work(int64_t m, int64_t n, int64_t k) {
  const auto elements = static_cast<double>(m * k + k * n + m * n);
  return {.flops = 2.0 * static_cast<double>(m * n * k), .bytes = 4.0 * elements};
}

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& w) {
  check_defined_matrices(x, w);
  check_matrix(x, x.size(0), x.size(1), x, "x");
  check_matrix(w, w.size(0), x.size(1), x, "w");
  const ProfileScope scope("linear", product_work(x.size(0), w.size(0), x.size(1)));
  const at::Tensor a = as_product_input(x);
  const at::Tensor b = as_product_input(w);
  if (!use_own_kernels(x)) return aten::linear(a, b);
  at::Tensor y = at::empty({x.size(0), w.size(0)}, x.options());
  multiply_matrices({x.size(0), w.size(0), x.size(1)}, {const_matrix(a)}, {const_matrix(b), Transposed::kYes}, 0.0f,
                    matrix(y));
  return y;
}

void linear_backward_input(const at::Tensor& dy, const at::Tensor& w, at::Tensor& dx, double beta) {
  check_defined_matrices(dy, w);
  check_matrix(dy, dy.size(0), w.size(0), dy, "dy");
  check_matrix(w, w.size(0), w.size(1), dy, "w");
  check_matrix(dx, dy.size(0), w.size(1), dy, "dx");
  const ProfileScope scope("linear, gradient of input", product_work(dy.size(0), w.size(1), w.size(0)));
  const at::Tensor a = as_product_input(dy);
  const at::Tensor b = as_product_input(w);
  if (!use_own_kernels(dy)) return aten::linear_backward_input(a, b, dx, beta);
  multiply_matrices({dy.size(0), w.size(1), w.size(0)}, {const_matrix(a)}, {const_matrix(b)}, static_cast<float>(beta),
                    matrix(dx));
}

void linear_backward_weight(const at::Tensor& dy, const at::Tensor& x, at::Tensor& dw, double beta) {
  check_defined_matrices(dy, x);
  check_matrix(dy, dy.size(0), dy.size(1), dy, "dy");
  check_matrix(x, dy.size(0), x.size(1), dy, "x");
  check_matrix(dw, dy.size(1), x.size(1), dy, "dw");
  const ProfileScope scope("linear, gradient of weight", product_work(dy.size(1), x.size(1), dy.size(0)));
  const at::Tensor a = as_product_input(dy);
  const at::Tensor b = as_product_input(x);
  if (!use_own_kernels(dy)) return aten::linear_backward_weight(a, b, dw, beta);
  multiply_matrices({dy.size(1), x.size(1), dy.size(0)}, {const_matrix(a), Transposed::kYes}, {const_matrix(b)},
                    static_cast<float>(beta), matrix(dw));
}

void bias_backward(const at::Tensor& dy, at::Tensor& db, double beta) {
  check(dy.defined() && dy.dim() == 2, "bias_backward: dy is a matrix");
  check_matrix(dy, dy.size(0), dy.size(1), dy, "dy");
  check_vector(db, dy.size(1), dy, "db");
  const ProfileScope scope("gradient of bias", {.flops = 0.0, .bytes = 4.0 * static_cast<double>(dy.numel())});
  if (!use_own_kernels(dy)) return aten::bias_backward(dy, db, beta);
  cpu_kernels().column_sums(dy.size(0), dy.size(1), const_matrix(dy), static_cast<float>(beta), vector(db));
}

}  // namespace bertft::ops
