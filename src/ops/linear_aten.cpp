// Linear layers, GELU and the gradient of a bias as ATen operations.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/sum.h>

#include "ops/aten_path.h"

namespace bertft::ops::aten {

void accumulate(at::Tensor& destination, const at::Tensor& value, double beta) {
  if (beta == 0.0) {
    destination.copy_(value);
  } else {
    destination.mul_(beta).add_(value);
  }
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& w) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  return at::matmul(x, w.t());
}

void linear_backward_input(const at::Tensor& dy, const at::Tensor& w, at::Tensor& dx, double beta) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  accumulate(dx, at::matmul(dy, w), beta);
}

void linear_backward_weight(const at::Tensor& dy, const at::Tensor& x, at::Tensor& dw, double beta) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  accumulate(dw, at::matmul(dy.t(), x), beta);
}

void bias_backward(const at::Tensor& dy, at::Tensor& db, double beta) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  accumulate(db, dy.sum(0), beta);
}

at::Tensor bias_gelu(at::Tensor& x, const at::Tensor& bias) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  x.add_(bias);
  return at::gelu(x);
}

void bias_gelu_backward(at::Tensor& dy, const at::Tensor& u) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  dy.copy_(at::gelu_backward(dy, u));
}

}  // namespace bertft::ops::aten
