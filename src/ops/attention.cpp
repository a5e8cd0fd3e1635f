#include "ops/attention.h"

#include <ATen/ops/empty.h>
#include <omp.h>

#include "core/error.h"
#include "core/profile.h"
#include "ops/aten_path.h"
#include "ops/implementation.h"
#include "ops/kernels/cpu_kernels.h"
#include "ops/raw.h"
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

// `products`: how many products of a [queries, length] and a [length, head_dim] matrix each head makes.
ProfileWork attention_work(const AttentionSettings& settings, const at::Tensor& query, int products) {
  const std::vector<int32_t>& offsets = settings.sequences.offsets;
  double pairs = 0.0;
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    const auto length = static_cast<double>(offsets[s + 1] - offsets[s]);
    pairs += settings.queries == Queries::kFirst ? length : length * length;
  }
  return {.flops = 2.0 * products * pairs * static_cast<double>(query.size(1)), .bytes = 0.0};
}

// Scratch memory for every thread.
at::Tensor make_scratch(const AttentionSettings& settings, const at::Tensor& like) {
  const int64_t floats = attention_scratch_floats(settings.sequences.max_length, like.size(1) / settings.heads);
  return at::empty({omp_get_max_threads(), floats}, like.options());
}

// Valid as long as the settings and the scratch live.
AttentionShape shape_of(const AttentionSettings& settings, const at::Tensor& query, const at::Tensor& scratch) {
  return {.ranges = row_ranges(settings.sequences),
          .heads = settings.heads,
          .head_dim = query.size(1) / settings.heads,
          .query_rows = query.size(0),
          .first_query_only = settings.queries == Queries::kFirst,
          .dropout = dropout_stream(settings.dropout),
          .scratch = vector(scratch),
          .scratch_floats = scratch.size(1)};
}

}  // namespace

AttentionResult attention(AttentionInput& input, const AttentionBias& bias, const AttentionSettings& settings) {
  check_settings(settings, input.query);
  check_input(input, settings, input.query);
  check_vector(bias.query, input.query.size(1), input.query, "bias.query");
  check_vector(bias.key, input.query.size(1), input.query, "bias.key");
  check_vector(bias.value, input.query.size(1), input.query, "bias.value");
  const ProfileScope scope("attention", attention_work(settings, input.query, 2));
  if (!use_own_kernels(input.query)) return aten::attention(input, bias, settings);
  const auto options = input.query.options();
  AttentionResult result{at::empty(input.query.sizes(), options),
                         at::empty({settings.heads, input.query.size(0)}, options)};
  const at::Tensor scratch = make_scratch(settings, input.query);
  cpu_kernels().attention({.shape = shape_of(settings, input.query, scratch),
                           .query = matrix(input.query),
                           .key = matrix(input.key),
                           .value = matrix(input.value),
                           .query_bias = const_vector(bias.query),
                           .key_bias = const_vector(bias.key),
                           .value_bias = const_vector(bias.value),
                           .context = matrix(result.context),
                           .log_sums = vector(result.log_sums)});
  return result;
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
  check(result.log_sums.is_contiguous(), "attention_backward: log_sums is contiguous");
  const ProfileScope scope("attention, backward", attention_work(settings, input.query, 5));
  if (!use_own_kernels(input.query)) {
    return aten::attention_backward(context_gradient, input, result, settings, gradients);
  }
  const at::Tensor scratch = make_scratch(settings, input.query);
  cpu_kernels().attention_backward({.shape = shape_of(settings, input.query, scratch),
                                    .query = const_matrix(input.query),
                                    .key = const_matrix(input.key),
                                    .value = const_matrix(input.value),
                                    .context = const_matrix(result.context),
                                    .context_gradient = const_matrix(context_gradient),
                                    .log_sums = const_vector(result.log_sums),
                                    .query_gradient = matrix(gradients.query),
                                    .key_gradient = matrix(gradients.key),
                                    .value_gradient = matrix(gradients.value)});
}

}  // namespace bertft::ops
