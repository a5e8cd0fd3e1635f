// The embeddings of tokens as ATen operations.
#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include "ops/aten_path.h"

namespace bertft::ops::aten {
namespace {

at::Tensor index_of(const std::vector<int32_t>& ids, at::Device device) {
  return at::tensor(at::ArrayRef<int32_t>(ids), at::kInt).to(device);
}

}  // namespace

EmbeddingResult embedding_norm_dropout(const TokenIds& tokens, const EmbeddingTables& tables,
                                       const NormParameters& norm, const Sequences& sequences, const Dropout& dropout) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  const auto rows = [](const at::Tensor& table, const std::vector<int32_t>& ids) {
    return table.index_select(0, index_of(ids, table.device()));
  };
  at::Tensor sum = rows(tables.word, tokens.word);
  sum.add_(rows(tables.position, tokens.position)).add_(rows(tables.token_type, tokens.token_type));
  NormResult normed = layer_norm(sum, norm);
  if (dropout.is_active()) normed.output.mul_(dropout_factors(sequences, sum.size(1), dropout, sum));
  return {normed.output, sum, normed.mean, normed.rstd};
}

void embedding_norm_dropout_backward(const at::Tensor& output_gradient, const TokenIds& tokens,
                                     const EmbeddingResult& result, const NormParameters& norm,
                                     const Sequences& sequences, const Dropout& dropout,
                                     EmbeddingGradients& gradients) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  at::Tensor upstream = output_gradient;
  if (dropout.is_active()) upstream = upstream * dropout_factors(sequences, upstream.size(1), dropout, upstream);
  const NormGradients d = layer_norm_backward(upstream, result.sum, result.mean, result.rstd, norm.weight);
  accumulate(gradients.norm_weight, d.weight, gradients.beta);
  accumulate(gradients.norm_bias, d.bias, gradients.beta);
  if (gradients.beta == 0.0) {
    gradients.position.zero_();
    gradients.token_type.zero_();
  }
  const auto add_rows = [&](at::Tensor& table, const std::vector<int32_t>& ids) {
    table.index_add_(0, index_of(ids, table.device()), d.x);
  };
  add_rows(gradients.word, tokens.word);
  add_rows(gradients.position, tokens.position);
  add_rows(gradients.token_type, tokens.token_type);
}

}  // namespace bertft::ops::aten
