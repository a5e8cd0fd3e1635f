#include "model/encoder.h"

#include <ATen/core/grad_mode.h>

namespace bertft {

void Encoder::append_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs) {
  const auto set_depth = [&](size_t first, int64_t depth) {
    for (size_t i = first; i < specs.size(); ++i) specs[i].depth = static_cast<int>(depth);
  };
  for (int64_t layer = config.layers - 1; layer >= 0; --layer) {
    const std::string scope = "encoder.layer." + std::to_string(layer);
    const size_t first = specs.size();
    FeedForwardBlock::append_specs(config, scope, specs);
    AttentionBlock::append_specs(config, scope + ".attention", specs);
    set_depth(first, config.layers - layer);
  }
  const size_t first = specs.size();
  Embeddings::append_specs(config, specs);
  set_depth(first, config.layers + 1);
}

Encoder::Encoder(const EncoderConfig& config, ParameterStore& store) : embeddings_(config, store) {
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    layers_.push_back(
        std::make_unique<Layer>(Layer{AttentionBlock(config, store, layer), FeedForwardBlock(config, store, layer)}));
  }
}

at::Tensor Encoder::forward(const ForwardPassPtr& pass, EncoderOutput output) const {
  at::Tensor hidden = embeddings(pass);  // [T, H]
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    const bool is_trimmed = layer + 1 == layers_.size() && output == EncoderOutput::kFirstTokens;
    const ops::Queries queries = is_trimmed ? ops::Queries::kFirst : ops::Queries::kAll;
    if (layers_[layer]->attention.is_trainable()) {
      hidden = through(*layers_[layer], hidden, pass, queries);
    } else {
      const at::NoGradGuard no_gradients;
      hidden = through(*layers_[layer], hidden, pass, queries);
    }
  }
  return hidden;
}

at::Tensor Encoder::embeddings(const ForwardPassPtr& pass) const {
  if (embeddings_.is_trainable()) return embeddings_.forward(pass);
  const at::NoGradGuard no_gradients;
  return embeddings_.forward(pass);
}

at::Tensor Encoder::through(const Layer& layer, const at::Tensor& hidden, const ForwardPassPtr& pass,
                            ops::Queries queries) {
  return layer.feed_forward.forward(layer.attention.forward(hidden, pass, queries), pass);
}

}  // namespace bertft
