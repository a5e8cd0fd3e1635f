// LayerNorm and the residual connection as ATen operations.
#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sum.h>

#include "ops/aten_path.h"

namespace bertft::ops::aten {

NormResult layer_norm(const at::Tensor& x, const NormParameters& norm) {
  const at::Tensor mean = x.mean(1);
  const at::Tensor centered = x - mean.unsqueeze(1);
  const at::Tensor rstd = (centered * centered).mean(1).add(norm.epsilon).rsqrt();
  return {centered * rstd.unsqueeze(1) * norm.weight + norm.bias, mean, rstd};
}

NormGradients layer_norm_backward(const at::Tensor& output_gradient, const at::Tensor& x, const at::Tensor& mean,
                                  const at::Tensor& rstd, const at::Tensor& weight) {
  const at::Tensor normalized = (x - mean.unsqueeze(1)) * rstd.unsqueeze(1);
  const at::Tensor scaled = output_gradient * weight;
  const at::Tensor along = (scaled * normalized).mean(1, true);
  const at::Tensor dx = (scaled - scaled.mean(1, true) - normalized * along) * rstd.unsqueeze(1);
  return {dx, (output_gradient * normalized).sum(0), output_gradient.sum(0)};
}

ResidualNormResult bias_dropout_residual_norm(at::Tensor& x, const at::Tensor& bias, const at::Tensor& residual,
                                              const NormParameters& norm, const Sequences& sequences,
                                              const Dropout& dropout) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  at::Tensor sum = x + bias;
  if (dropout.is_active()) sum.mul_(dropout_factors(sequences, x.size(1), dropout, x));
  sum.add_(residual);
  const NormResult normed = layer_norm(sum, norm);
  return {normed.output, sum, normed.mean, normed.rstd};
}

void bias_dropout_residual_norm_backward(const at::Tensor& output_gradient, const ResidualNormResult& result,
                                         const NormParameters& norm, const Sequences& sequences, const Dropout& dropout,
                                         ResidualNormGradients& gradients) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  const NormGradients d = layer_norm_backward(output_gradient, result.sum, result.mean, result.rstd, norm.weight);
  accumulate(gradients.norm_weight, d.weight, gradients.beta);
  accumulate(gradients.norm_bias, d.bias, gradients.beta);
  const at::Tensor dx = dropout.is_active() ? d.x * dropout_factors(sequences, d.x.size(1), dropout, d.x) : d.x;
  accumulate(gradients.bias, dx.sum(0), gradients.beta);
  gradients.x.copy_(dx);
  gradients.residual.copy_(d.x);
}

}  // namespace bertft::ops::aten
