// The encoder of BERT: embeddings, then layers of attention and feed-forward blocks, on packed tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "model/attention_block.h"
#include "model/config.h"
#include "model/embeddings.h"
#include "model/feed_forward_block.h"
#include "model/forward_pass.h"
#include "model/parameter_store.h"

namespace bertft {

// Which states a head needs. kFirst saves most of the last layer, exactly.
enum class EncoderOutput { kAllTokens, kFirstTokens };

class Encoder {
 public:
  // Every parameter of the encoder with its depth, in the order in which backward finishes them (a head's come before).
  static void append_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs);

  // `store` must hold those parameters and outlive the encoder.
  Encoder(const EncoderConfig& config, ParameterStore& store);

  // -> [T, H] or [S, H]; differentiable. What lies below the first trainable parameter is computed without autograd
  // (with dropout, as configured): backward ends there.
  at::Tensor forward(const ForwardPassPtr& pass, EncoderOutput output) const;

 private:
  struct Layer {
    AttentionBlock attention;
    FeedForwardBlock feed_forward;
  };
  at::Tensor embeddings(const ForwardPassPtr& pass) const;
  static at::Tensor through(const Layer& layer, const at::Tensor& hidden, const ForwardPassPtr& pass,
                            ops::Queries queries);

  Embeddings embeddings_;
  std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace bertft
