#include "ops/attention.h"

#include "core/error.h"
#include "ops/aten_path.h"
#include "ops/implementation.h"
#include "ops/shapes.h"

namespace bertft::ops {
namespace {

// Query, key and value (or their gradients) against the settings; `like` gives type and width.
void check_input(const AttentionInput& input, const AttentionSettings& settings, const at::Tensor& like) {
  const int64_t rows = settings.sequences.rows(), width = like.size(1);
  check_matrix(input.query, settings.queries == Queries::kFirst ? settings.sequences.count() : rows, width, like,
               "query");
  check_matrix(input.key, rows, width, like, "key");
  check_matrix(input.value, rows, width, like, "value");
}

void check_settings(const AttentionSettings& settings, const at::Tensor& query) {
  check_sequences(settings.sequences);
  check_dropout(settings.dropout, settings.sequences);
  check(query.defined() && query.dim() == 2, "attention: query is a matrix");
  check(settings.heads > 0 && query.size(1) % settings.heads == 0, "attention: the heads divide the width");
}

}  // namespace

AttentionResult attention(AttentionInput& input, const AttentionBias& bias, const AttentionSettings& settings) {
  check_settings(settings, input.query);
  check_input(input, settings, input.query);
  check_vector(bias.query, input.query.size(1), input.query, "bias.query");
  check_vector(bias.key, input.query.size(1), input.query, "bias.key");
  check_vector(bias.value, input.query.size(1), input.query, "bias.value");
  return aten::attention(input, bias, settings);
}

void attention_backward(const at::Tensor& context_gradient, const AttentionInput& input, const AttentionResult& result,
                        const AttentionSettings& settings, AttentionInput& gradients) {
  check_settings(settings, input.query);
  check_input(input, settings, input.query);
  check_input(gradients, settings, input.query);
  const int64_t query_rows = input.query.size(0), width = input.query.size(1);
  check_matrix(context_gradient, query_rows, width, input.query, "context_gradient");
  check_matrix(result.context, query_rows, width, input.query, "result.context");
  check_matrix(result.log_sums, settings.heads, query_rows, input.query, "result.log_sums");
  aten::attention_backward(context_gradient, input, result, settings, gradients);
}

}  // namespace bertft::ops
