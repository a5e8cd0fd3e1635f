#include "ops/residual_norm.h"

#include <ATen/ops/empty.h>

#include "core/error.h"
#include "core/profile.h"
#include "ops/aten_path.h"
#include "ops/implementation.h"
#include "ops/kernels/cpu_kernels.h"
#include "ops/raw.h"
#include "ops/shapes.h"

namespace bertft::ops {
namespace {

// Of operations that read and write `matrices` of this shape.
ProfileWork elementwise_work(const at::Tensor& like, int matrices) {
  return {.flops = 0.0,
          .bytes = static_cast<double>(like.element_size()) * static_cast<double>(like.numel()) * matrices};
}

}  // namespace

ResidualNormResult bias_dropout_residual_norm(at::Tensor& x, const at::Tensor& bias, const at::Tensor& residual,
                                              const NormParameters& norm, const Sequences& sequences,
                                              const Dropout& dropout) {
  check_sequences(sequences);
  check_dropout(dropout, sequences);
  check(x.defined() && x.dim() == 2, "bias_dropout_residual_norm: x is a matrix");
  const int64_t rows = sequences.rows(), width = x.size(1);
  check_matrix(x, rows, width, x, "x");
  check_matrix(residual, rows, width, x, "residual");
  check_vector(bias, width, x, "bias");
  check_vector(norm.weight, width, x, "norm.weight");
  check_vector(norm.bias, width, x, "norm.bias");
  const ProfileScope scope("bias + dropout + residual + LayerNorm", elementwise_work(x, 4));
  if (!use_own_kernels(x)) return aten::bias_dropout_residual_norm(x, bias, residual, norm, sequences, dropout);
  // The memory of x becomes that of the sum.
  ResidualNormResult result{at::empty({rows, width}, x.options()), x, at::empty({rows}, x.options()),
                            at::empty({rows}, x.options())};
  ResidualNormForward call{};
  call.norm = {.rows = rows,
               .width = width,
               .weight = const_vector(norm.weight),
               .bias = const_vector(norm.bias),
               .epsilon = norm.epsilon,
               .ranges = row_ranges(sequences),
               .dropout = dropout_stream(dropout),
               .sum = matrix(result.sum),
               .output = matrix(result.output),
               .mean = vector(result.mean),
               .rstd = vector(result.rstd)};
  call.x = const_matrix(x);
  call.residual = const_matrix(residual);
  call.bias = const_vector(bias);
  cpu_kernels().residual_norm(call);
  return result;
}

void bias_dropout_residual_norm_backward(const at::Tensor& output_gradient, const ResidualNormResult& result,
                                         const NormParameters& norm, const Sequences& sequences, const Dropout& dropout,
                                         ResidualNormGradients& gradients) {
  check_sequences(sequences);
  check_dropout(dropout, sequences);
  check(output_gradient.defined() && output_gradient.dim() == 2, "output_gradient is a matrix");
  const at::Tensor& like = output_gradient;
  const int64_t rows = sequences.rows(), width = like.size(1);
  check_matrix(output_gradient, rows, width, like, "output_gradient");
  check_matrix(result.sum, rows, width, like, "result.sum");
  check_vector(result.mean, rows, like, "result.mean");
  check_vector(result.rstd, rows, like, "result.rstd");
  check_vector(norm.weight, width, like, "norm.weight");
  check_matrix(gradients.x, rows, width, like, "gradients.x");
  check_matrix(gradients.residual, rows, width, like, "gradients.residual");
  check_vector(gradients.bias, width, like, "gradients.bias");
  check_vector(gradients.norm_weight, width, like, "gradients.norm_weight");
  check_vector(gradients.norm_bias, width, like, "gradients.norm_bias");
  const ProfileScope scope("bias + dropout + residual + LayerNorm, backward", elementwise_work(like, 4));
  if (!use_own_kernels(like)) {
    return aten::bias_dropout_residual_norm_backward(output_gradient, result, norm, sequences, dropout, gradients);
  }
  const at::Tensor scratch = at::empty({norm_scratch_floats(rows, width)}, like.options());
  ResidualNormBackward call{};
  call.norm = {.rows = rows,
               .width = width,
               .output_gradient = const_matrix(output_gradient),
               .sum = const_matrix(result.sum),
               .mean = const_vector(result.mean),
               .rstd = const_vector(result.rstd),
               .weight = const_vector(norm.weight),
               .ranges = row_ranges(sequences),
               .dropout = dropout_stream(dropout),
               .partial_sums = vector(scratch),
               .weight_gradient = vector(gradients.norm_weight),
               .bias_gradient = vector(gradients.norm_bias),
               .beta = static_cast<float>(gradients.beta),
               .sum_gradient = matrix(gradients.residual)};
  call.x_gradient = matrix(gradients.x);
  call.added_bias_gradient = vector(gradients.bias);
  cpu_kernels().residual_norm_backward(call);
}

}  // namespace bertft::ops
