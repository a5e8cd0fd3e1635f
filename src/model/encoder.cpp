#include "model/encoder.h"

namespace bertft {

void Encoder::append_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs) {
  for (int64_t layer = config.layers - 1; layer >= 0; --layer) {
    const std::string scope = "encoder.layer." + std::to_string(layer);
    FeedForwardBlock::append_specs(config, scope, specs);
    AttentionBlock::append_specs(config, scope + ".attention", specs);
  }
  Embeddings::append_specs(config, specs);
}

Encoder::Encoder(const EncoderConfig& config, ParameterStore& store) : embeddings_(config, store) {
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    layers_.push_back(
        std::make_unique<Layer>(Layer{AttentionBlock(config, store, layer), FeedForwardBlock(config, store, layer)}));
  }
}

at::Tensor Encoder::forward(const ForwardPassPtr& pass, EncoderOutput output) const {
  at::Tensor hidden = embeddings_.forward(pass);  // [T, H]
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    const bool is_trimmed = layer + 1 == layers_.size() && output == EncoderOutput::kFirstTokens;
    hidden = layers_[layer]->attention.forward(hidden, pass, is_trimmed ? ops::Queries::kFirst : ops::Queries::kAll);
    hidden = layers_[layer]->feed_forward.forward(hidden, pass);
  }
  return hidden;
}

}  // namespace bertft
