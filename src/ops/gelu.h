// GELU with the exact error function: gelu(u) = u Phi(u) (Hendrycks and Gimpel 2016; `hidden_act: gelu`).
#pragma once

#include <ATen/core/Tensor.h>

namespace bertft::ops {

// x [T, I] becomes u = x + bias [I]; returns gelu(u), newly allocated.
at::Tensor bias_gelu(at::Tensor& x, const at::Tensor& bias);

// dy [T, I] becomes dy * gelu'(u).
void bias_gelu_backward(at::Tensor& dy, const at::Tensor& u);

}  // namespace bertft::ops
