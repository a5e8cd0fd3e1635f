// Scaled dot-product attention of packed sequences (Vaswani et al. 2017, 3.2): every token attends to all tokens of its
// own sequence and to nothing else; attention probabilities may be dropped.
#pragma once

#include <ATen/core/Tensor.h>

#include "ops/dropout.h"
#include "ops/sequences.h"

namespace bertft::ops {

// Which rows ask: every token, or only the first of each sequence (all that a [CLS] head needs of the last layer).
enum class Queries { kAll, kFirst };

// Columns are heads * head_dim = H wide. Rows may be strided (slices of one [T, 3H] matrix).
struct AttentionInput {
  at::Tensor query;  // [Tq, H]: Tq = T, or the number of sequences for Queries::kFirst
  at::Tensor key;    // [T, H]
  at::Tensor value;  // [T, H]
};

struct AttentionBias {
  at::Tensor query, key, value;  // [H] each
};

struct AttentionSettings {
  const Sequences& sequences;  // must outlive the call
  const Dropout& dropout;      // must outlive the call
  int64_t heads = 0;
  Queries queries = Queries::kAll;
};

struct AttentionResult {
  at::Tensor context;   // [Tq, H], contiguous
  at::Tensor log_sums;  // [heads, Tq]: log of the sum of exponentials of each row of scores; backward needs it
};

// Adds the biases to query, key and value in place, then attends.
AttentionResult attention(AttentionInput& input, const AttentionBias& bias, const AttentionSettings& settings);

// Writes the gradients of query, key and value (biases already added) to `gradients`, shaped like the input and
// overwritten; the gradient of a bias is the column sum of the matching one (bias_backward).
// `input` and `result` are those that attention() left behind.
void attention_backward(const at::Tensor& context_gradient, const AttentionInput& input, const AttentionResult& result,
                        const AttentionSettings& settings, AttentionInput& gradients);

}  // namespace bertft::ops
