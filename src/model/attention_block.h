// The first half of an encoder layer: LayerNorm(x + dropout(dense(attention(x)))) (Devlin et al. 2018; BertAttention).
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "model/config.h"
#include "model/forward_pass.h"
#include "model/parameter_store.h"
#include "ops/attention.h"

namespace bertft {

class AttentionBlock {
 public:
  // `scope`: "encoder.layer.0.attention".
  static void append_specs(const EncoderConfig& config, const std::string& scope, std::vector<ParameterSpec>& specs);

  AttentionBlock(const EncoderConfig& config, ParameterStore& store, int64_t layer);

  // Whether the layer's parameters are; all of a layer are alike.
  bool is_trainable() const { return qkv_weight_.is_trainable; }

  // hidden [T, H] -> [T, H], or [S, H] for Queries::kFirst: only the first token of every sequence asks and is computed
  // further, which is exact. Differentiable; `this` must outlive backward.
  at::Tensor forward(const at::Tensor& hidden, const ForwardPassPtr& pass, ops::Queries queries) const;

 private:
  friend struct AttentionBlockFunction;
  ParameterStore& store_;
  int64_t layer_;
  int64_t heads_;
  double dropout_;
  double attention_dropout_;
  double norm_epsilon_;
  Parameter qkv_weight_;  // [3H, H]: query, key, value
  Parameter qkv_bias_;    // [3H]
  Parameter output_weight_, output_bias_, norm_weight_, norm_bias_;
};

}  // namespace bertft
