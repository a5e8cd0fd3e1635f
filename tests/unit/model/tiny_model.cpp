#include "tests/unit/model/tiny_model.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "core/rng.h"

namespace bertft::test {
namespace {

Layout tiny_layout(const EncoderConfig& config) {
  std::vector<ParameterSpec> specs;
  SequenceHead::append_specs(config, kTinyLabels, specs);
  Encoder::append_specs(config, specs);
  return make_layout(specs, 64);
}

at::Tensor random_weights(const Layout& layout, at::ScalarType type) {
  at::Tensor flat = at::zeros({layout.total}, at::kDouble);
  for (const LayoutEntry& entry : layout.entries) {
    const double mean = entry.spec.name.ends_with("LayerNorm.weight") ? 1.0 : 0.0;
    double* values = flat.mutable_data_ptr<double>() + entry.offset;
    for (int64_t i = 0; i < entry.size; ++i) {
      values[i] = mean + 0.4 * counter_normal(stream_key(1, entry.offset), static_cast<uint64_t>(i));
    }
  }
  return flat.to(type);
}

ParameterStore tiny_store(const EncoderConfig& config, at::ScalarType type) {
  Layout layout = tiny_layout(config);
  at::Tensor weights = random_weights(layout, type);
  at::Tensor gradients = at::zeros({layout.total}, type);
  return ParameterStore(std::move(layout), std::move(weights), std::move(gradients));
}

}  // namespace

EncoderConfig tiny_config() {
  EncoderConfig config;
  config.model_type = "bert";
  config.vocab_size = 11;
  config.hidden_size = 8;
  config.layers = 2;
  config.heads = 2;
  config.intermediate_size = 12;
  config.max_positions = 9;
  config.token_types = 2;
  config.dropout = 0.0;
  config.attention_dropout = 0.0;
  return config;
}

TinyModel::TinyModel(const EncoderConfig& tiny, at::ScalarType type)
    : config(tiny), store(tiny_store(tiny, type)), encoder(config, store), head(config, store) {}

at::Tensor TinyModel::logits(const ForwardPassPtr& pass) const {
  return head.forward(encoder.forward(pass, EncoderOutput::kFirstTokens), *pass);
}

ForwardPassPtr tiny_pass(const std::vector<TinyRow>& rows, bool is_training, int64_t step) {
  auto pass = std::make_shared<ForwardPass>();
  pass->sequences.offsets = {0};
  for (const TinyRow& row : rows) {
    for (int32_t t = 0; t < row.length; ++t) {
      pass->tokens.word.push_back(static_cast<int32_t>(mix64(stream_key(2, row.row, row.part, t)) % 11));
      pass->tokens.position.push_back(t);
      pass->tokens.token_type.push_back(t > row.length / 2 ? 1 : 0);
    }
    pass->sequences.offsets.push_back(pass->sequences.offsets.back() + row.length);
    pass->sequences.max_length = std::max<int64_t>(pass->sequences.max_length, row.length);
    pass->rows.push_back(row.row);
    pass->parts.push_back(row.part);
  }
  pass->first_tokens = ops::single_rows(static_cast<int64_t>(rows.size()));
  pass->is_training = is_training;
  pass->seed = 42;
  pass->step = step;
  return pass;
}

at::Tensor fixed_weights(at::IntArrayRef sizes, uint64_t seed, at::ScalarType type) {
  at::Tensor weights = at::empty(sizes, at::kDouble);
  auto* values = weights.mutable_data_ptr<double>();
  for (int64_t i = 0; i < weights.numel(); ++i) {
    values[i] = counter_normal(stream_key(3, seed), static_cast<uint64_t>(i));
  }
  return weights.to(type);
}

at::Tensor weights_by_row(const ForwardPass& pass, int64_t columns, at::ScalarType type) {
  const auto sequences = static_cast<int64_t>(pass.rows.size());
  at::Tensor weights = at::empty({sequences, columns}, type);
  for (int64_t s = 0; s < sequences; ++s) {
    const auto index = static_cast<size_t>(s);
    const uint64_t seed = stream_key(4, pass.rows[index], pass.parts[index]);
    weights.select(0, s).copy_(fixed_weights({columns}, seed, type));
  }
  return weights;
}

void backward_once(ParameterStore& store, const at::Tensor& output, const at::Tensor& loss_gradient) {
  store.ledger().begin_step();
  store.ledger().begin_micro_batch(true);
  output.backward(loss_gradient);
  store.finish_gradients();
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor expected = b.to(at::kDouble);
  const double worst = a.to(at::kDouble).sub(expected).abs().max().item<double>();
  return worst / (1.0 + expected.abs().max().item<double>());
}

}  // namespace bertft::test
