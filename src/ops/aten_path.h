// The operations of this folder composed of ATen operations, for any floating type and device: the reference of the
// kernels. Signatures and meaning are those of the public headers; shapes were checked by the caller.
#pragma once

#include "ops/attention.h"
#include "ops/embedding.h"
#include "ops/residual_norm.h"

namespace bertft::ops::aten {

at::Tensor linear(const at::Tensor& x, const at::Tensor& w);
void linear_backward_input(const at::Tensor& dy, const at::Tensor& w, at::Tensor& dx, double beta);
void linear_backward_weight(const at::Tensor& dy, const at::Tensor& x, at::Tensor& dw, double beta);
void bias_backward(const at::Tensor& dy, at::Tensor& db, double beta);

at::Tensor bias_gelu(at::Tensor& x, const at::Tensor& bias);
void bias_gelu_backward(at::Tensor& dy, const at::Tensor& u);

AttentionResult attention(AttentionInput& input, const AttentionBias& bias, const AttentionSettings& settings);
void attention_backward(const at::Tensor& context_gradient, const AttentionInput& input, const AttentionResult& result,
                        const AttentionSettings& settings, AttentionInput& gradients);

ResidualNormResult bias_dropout_residual_norm(at::Tensor& x, const at::Tensor& bias, const at::Tensor& residual,
                                              const NormParameters& norm, const Sequences& sequences,
                                              const Dropout& dropout);
void bias_dropout_residual_norm_backward(const at::Tensor& output_gradient, const ResidualNormResult& result,
                                         const NormParameters& norm, const Sequences& sequences, const Dropout& dropout,
                                         ResidualNormGradients& gradients);

EmbeddingResult embedding_norm_dropout(const TokenIds& tokens, const EmbeddingTables& tables,
                                       const NormParameters& norm, const Sequences& sequences, const Dropout& dropout);
// The rows of gradients.word that were touched before are already cleared where beta is 0.
void embedding_norm_dropout_backward(const at::Tensor& output_gradient, const TokenIds& tokens,
                                     const EmbeddingResult& result, const NormParameters& norm,
                                     const Sequences& sequences, const Dropout& dropout, EmbeddingGradients& gradients);

// destination = value + beta * destination; with beta = 0 it is not read.
void accumulate(at::Tensor& destination, const at::Tensor& value, double beta);

// LayerNorm over the rows of x [T, H] and its gradients with respect to x, weight and bias.
struct NormResult {
  at::Tensor output, mean, rstd;  // [T, H], [T], [T]
};
NormResult layer_norm(const at::Tensor& x, const NormParameters& norm);

struct NormGradients {
  at::Tensor x, weight, bias;  // [T, H], [H], [H]
};
NormGradients layer_norm_backward(const at::Tensor& output_gradient, const at::Tensor& x, const at::Tensor& mean,
                                  const at::Tensor& rstd, const at::Tensor& weight);

// The dropout factors of elements `index` (int64, any shape) of the stream `key`, like dropout_factors().
at::Tensor counter_factors(const at::Tensor& index, uint64_t key, double probability, const at::Tensor& like);

}  // namespace bertft::ops::aten
