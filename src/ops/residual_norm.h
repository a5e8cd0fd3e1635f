// The end of each half of an encoder layer in one pass: LayerNorm(residual + dropout(x + bias)) (Ba et al. 2016,
// post-norm as in BERT).
#pragma once

#include <ATen/core/Tensor.h>

#include "ops/dropout.h"
#include "ops/sequences.h"

namespace bertft::ops {

struct NormParameters {
  at::Tensor weight;  // [H]
  at::Tensor bias;    // [H]
  double epsilon = 1e-12;
};

struct ResidualNormResult {
  at::Tensor output;  // [T, H]
  at::Tensor sum;     // [T, H]: what was normalized
  at::Tensor mean;    // [T]
  at::Tensor rstd;    // [T]: 1 / sqrt(variance + epsilon)
};

// x [T, H] is consumed (its memory may become `sum`); bias [H]; residual [T, H].
ResidualNormResult bias_dropout_residual_norm(at::Tensor& x, const at::Tensor& bias, const at::Tensor& residual,
                                              const NormParameters& norm, const Sequences& sequences,
                                              const Dropout& dropout);

// Where gradients go. The first two are overwritten; the parameters' become their sum + beta * what was there.
struct ResidualNormGradients {
  at::Tensor x;            // [T, H]
  at::Tensor residual;     // [T, H]
  at::Tensor bias;         // [H]
  at::Tensor norm_weight;  // [H]
  at::Tensor norm_bias;    // [H]
  double beta = 0.0;
};

void bias_dropout_residual_norm_backward(const at::Tensor& output_gradient, const ResidualNormResult& result,
                                         const NormParameters& norm, const Sequences& sequences, const Dropout& dropout,
                                         ResidualNormGradients& gradients);

}  // namespace bertft::ops
