#include "ops/gelu.h"

#include <ATen/ops/empty.h>

#include "core/error.h"
#include "core/profile.h"
#include "ops/aten_path.h"
#include "ops/implementation.h"
#include "ops/kernels/cpu_kernels.h"
#include "ops/raw.h"
#include "ops/shapes.h"

namespace bertft::ops {

at::Tensor bias_gelu(at::Tensor& x, const at::Tensor& bias) {
  check(x.defined() && x.dim() == 2, "bias_gelu: x is a matrix");
  check_matrix(x, x.size(0), x.size(1), x, "x");
  check_vector(bias, x.size(1), x, "bias");
  const ProfileScope scope("bias + GELU", {.flops = 0.0, .bytes = 12.0 * static_cast<double>(x.numel())});
  if (!use_own_kernels(x)) return aten::bias_gelu(x, bias);
  at::Tensor y = at::empty(x.sizes(), x.options());
  cpu_kernels().bias_gelu(x.size(0), x.size(1), matrix(x), const_vector(bias), matrix(y));
  return y;
}

void bias_gelu_backward(at::Tensor& dy, const at::Tensor& u) {
  check(dy.defined() && dy.dim() == 2, "bias_gelu_backward: dy is a matrix");
  check_matrix(dy, dy.size(0), dy.size(1), dy, "dy");
  check_matrix(u, dy.size(0), dy.size(1), dy, "u");
  const ProfileScope scope("GELU, backward", {.flops = 0.0, .bytes = 12.0 * static_cast<double>(u.numel())});
  if (!use_own_kernels(dy)) return aten::bias_gelu_backward(dy, u);
  cpu_kernels().gelu_backward(dy.size(0), dy.size(1), matrix(dy), const_matrix(u));
}

}  // namespace bertft::ops
