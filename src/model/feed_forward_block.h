// The second half of an encoder layer: LayerNorm(x + dropout(dense(gelu(dense(x))))) (BertIntermediate, BertOutput).
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "model/config.h"
#include "model/forward_pass.h"
#include "model/parameter_store.h"
#include "ops/sequences.h"

namespace bertft {

class FeedForwardBlock {
 public:
  // `scope`: "encoder.layer.0".
  static void append_specs(const EncoderConfig& config, const std::string& scope, std::vector<ParameterSpec>& specs);

  FeedForwardBlock(const EncoderConfig& config, ParameterStore& store, int64_t layer);

  // x [N, H] -> [N, H]; the rows of x are all tokens of the pass, or the first of every sequence. Differentiable;
  // `this` must outlive backward.
  at::Tensor forward(const at::Tensor& x, const ForwardPassPtr& pass) const;

 private:
  friend struct FeedForwardFunction;
  ParameterStore& store_;
  int64_t layer_;
  double dropout_;
  double norm_epsilon_;
  Parameter inner_weight_;  // [I, H]
  Parameter inner_bias_;    // [I]
  Parameter outer_weight_;  // [H, I]
  Parameter outer_bias_, norm_weight_, norm_bias_;
};

}  // namespace bertft
