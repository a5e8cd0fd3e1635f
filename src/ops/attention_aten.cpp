// Attention of packed sequences as ATen operations, one sequence after another.
#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>

#include <cmath>

#include "ops/aten_path.h"

namespace bertft::ops::aten {
namespace {

// Rows of one sequence: keys begin .. begin + length - 1, queries query_begin .. query_begin + query_length - 1.
struct Rows {
  size_t sequence;
  int64_t begin, length, query_begin, query_length;
};

Rows rows_of(const AttentionSettings& settings, size_t s) {
  const auto& offsets = settings.sequences.offsets;
  const int64_t begin = offsets[s], length = offsets[s + 1] - begin;
  if (settings.queries == Queries::kFirst) return {s, begin, length, static_cast<int64_t>(s), 1};
  return {s, begin, length, begin, length};
}

// Rows [begin, begin + length) of x [T, H] as [heads, length, head_dim], a view.
at::Tensor split_heads(const at::Tensor& x, int64_t begin, int64_t length, int64_t heads) {
  return x.narrow(0, begin, length).unflatten(1, {heads, x.size(1) / heads}).transpose(0, 1);
}

// Back to rows: x [heads, length, head_dim] to [length, H].
at::Tensor join_heads(const at::Tensor& x) { return x.transpose(0, 1).flatten(1); }

// The dropout factors of one sequence's probabilities, [heads, query_length, length].
at::Tensor factors_of(const AttentionSettings& settings, const Rows& rows, const at::Tensor& like) {
  const auto integers = like.options().dtype(at::kLong);
  const at::Tensor head = at::arange(settings.heads, integers).view({-1, 1, 1});
  const at::Tensor query = at::arange(rows.query_length, integers).view({-1, 1});
  const at::Tensor key = at::arange(rows.length, integers);
  const at::Tensor index = (head * rows.length + query) * rows.length + key;
  return counter_factors(index, settings.dropout.keys[rows.sequence], settings.dropout.probability, like);
}

double score_scale(const at::Tensor& key, int64_t heads) {
  return 1.0 / std::sqrt(static_cast<double>(key.size(1) / heads));
}

}  // namespace

AttentionResult attention(AttentionInput& input, const AttentionBias& bias, const AttentionSettings& settings) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  input.query.add_(bias.query);
  input.key.add_(bias.key);
  input.value.add_(bias.value);
  const int64_t heads = settings.heads;
  const double scale = score_scale(input.key, heads);
  AttentionResult result{at::empty({input.query.size(0), input.query.size(1)}, input.query.options()),
                         at::empty({heads, input.query.size(0)}, input.query.options())};
  for (size_t s = 0; s + 1 < settings.sequences.offsets.size(); ++s) {
    const Rows rows = rows_of(settings, s);
    const at::Tensor query = split_heads(input.query, rows.query_begin, rows.query_length, heads);
    const at::Tensor key = split_heads(input.key, rows.begin, rows.length, heads);
    const at::Tensor value = split_heads(input.value, rows.begin, rows.length, heads);
    const at::Tensor scores = at::matmul(query, key.transpose(1, 2)) * scale;  // [heads, queries, keys]
    const at::Tensor log_sums = at::logsumexp(scores, -1);
    at::Tensor probabilities = (scores - log_sums.unsqueeze(-1)).exp();
    if (settings.dropout.is_active()) probabilities = probabilities * factors_of(settings, rows, probabilities);
    result.context.narrow(0, rows.query_begin, rows.query_length).copy_(join_heads(at::matmul(probabilities, value)));
    result.log_sums.narrow(1, rows.query_begin, rows.query_length).copy_(log_sums);
  }
  return result;
}

void attention_backward(const at::Tensor& context_gradient, const AttentionInput& input, const AttentionResult& result,
                        const AttentionSettings& settings, AttentionInput& gradients) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  const int64_t heads = settings.heads;
  const double scale = score_scale(input.key, heads);
  for (size_t s = 0; s + 1 < settings.sequences.offsets.size(); ++s) {
    const Rows rows = rows_of(settings, s);
    const at::Tensor query = split_heads(input.query, rows.query_begin, rows.query_length, heads);
    const at::Tensor key = split_heads(input.key, rows.begin, rows.length, heads);
    const at::Tensor value = split_heads(input.value, rows.begin, rows.length, heads);
    const at::Tensor upstream = split_heads(context_gradient, rows.query_begin, rows.query_length, heads);
    const at::Tensor log_sums = result.log_sums.narrow(1, rows.query_begin, rows.query_length).unsqueeze(-1);
    const at::Tensor probabilities = (at::matmul(query, key.transpose(1, 2)) * scale - log_sums).exp();
    at::Tensor dropped = probabilities;
    at::Tensor d_probabilities = at::matmul(upstream, value.transpose(1, 2));
    if (settings.dropout.is_active()) {
      const at::Tensor factors = factors_of(settings, rows, probabilities);
      dropped = probabilities * factors;
      d_probabilities = d_probabilities * factors;
    }
    // Softmax: dS = P (dP - rowsum(P dP))
    const at::Tensor row_sums = (probabilities * d_probabilities).sum(-1, true);
    const at::Tensor d_scores = probabilities * (d_probabilities - row_sums) * scale;
    gradients.query.narrow(0, rows.query_begin, rows.query_length).copy_(join_heads(at::matmul(d_scores, key)));
    gradients.key.narrow(0, rows.begin, rows.length).copy_(join_heads(at::matmul(d_scores.transpose(1, 2), query)));
    gradients.value.narrow(0, rows.begin, rows.length).copy_(join_heads(at::matmul(dropped.transpose(1, 2), upstream)));
  }
}

}  // namespace bertft::ops::aten
