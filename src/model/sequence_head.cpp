#include "model/sequence_head.h"

#include <ATen/ops/tanh.h>

namespace bertft {

void SequenceHead::append_specs(const EncoderConfig& config, int64_t outputs, std::vector<ParameterSpec>& specs) {
  LinearLayer::append_specs("classifier", outputs, config.hidden_size, specs);
  LinearLayer::append_specs("pooler.dense", config.hidden_size, config.hidden_size, specs);
}

SequenceHead::SequenceHead(const EncoderConfig& config, ParameterStore& store)
    : dropout_(config.effective_classifier_dropout()),
      pooler_(store, "pooler.dense"),
      classifier_(store, "classifier") {}

at::Tensor SequenceHead::forward(const at::Tensor& first, const ForwardPass& pass) const {
  const at::Tensor pooled = at::tanh(pooler_.forward(first));  // [S, H]
  const ops::Dropout dropout = pass.dropout(dropout_, 0, DropoutSite::kHead);
  return classifier_.forward(ops::dropout(pooled, pass.first_tokens, dropout));
}

}  // namespace bertft
