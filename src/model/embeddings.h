// The input layer of BERT: LayerNorm of word, position and token type embeddings, then dropout.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/config.h"
#include "model/forward_pass.h"
#include "model/parameter_store.h"

namespace bertft {

class Embeddings {
 public:
  static void append_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs);

  Embeddings(const EncoderConfig& config, ParameterStore& store);

  bool is_trainable() const { return word_.is_trainable; }

  // -> [T, H]; differentiable. `this` must outlive backward.
  at::Tensor forward(const ForwardPassPtr& pass) const;

 private:
  friend struct EmbeddingsFunction;
  ParameterStore& store_;
  double dropout_;
  double norm_epsilon_;
  Parameter word_, position_, token_type_, norm_weight_, norm_bias_;
};

}  // namespace bertft
