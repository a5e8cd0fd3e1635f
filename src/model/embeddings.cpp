#include "model/embeddings.h"

#include "core/profile.h"
#include "model/function_state.h"
#include "ops/embedding.h"

namespace bertft {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

struct EmbeddingsState : torch::CustomClassHolder {
  const Embeddings* layer = nullptr;
  ForwardPassPtr pass;
  ops::EmbeddingResult result;
  ops::Dropout dropout;
};

}  // namespace

struct EmbeddingsFunction : torch::autograd::Function<EmbeddingsFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& /*anchor*/, const Embeddings* layer,
                            const ForwardPassPtr& pass) {
    const ProfileScope scope("embeddings");
    auto state = c10::make_intrusive<EmbeddingsState>();
    state->layer = layer;
    state->pass = pass;
    state->dropout = pass->dropout(layer->dropout_, 0, DropoutSite::kEmbeddings);
    state->result = ops::embedding_norm_dropout(
        pass->tokens, {layer->word_.value, layer->position_.value, layer->token_type_.value},
        {layer->norm_weight_.value, layer->norm_bias_.value, layer->norm_epsilon_}, pass->sequences, state->dropout);
    at::Tensor output = std::move(state->result.output);
    state->result.output.reset();
    keep_state(context, std::move(state));
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const ProfileScope scope("embeddings");
    const auto state = take_state<EmbeddingsState>(context);
    const Embeddings& layer = *state->layer;
    GradientLedger& ledger = layer.store_.ledger();
    const std::vector<int> entries = {layer.norm_weight_.entries[0], layer.norm_bias_.entries[0],
                                      layer.token_type_.entries[0], layer.position_.entries[0], layer.word_.entries[0]};
    ops::EmbeddingGradients out{layer.word_.gradient,        layer.position_.gradient,
                                layer.token_type_.gradient,  &layer.store_.touched_word_rows(),
                                layer.norm_weight_.gradient, layer.norm_bias_.gradient,
                                ledger.beta(entries)};
    ops::embedding_norm_dropout_backward(gradients[0].contiguous(), state->pass->tokens, state->result,
                                         {layer.norm_weight_.value, layer.norm_bias_.value, layer.norm_epsilon_},
                                         state->pass->sequences, state->dropout, out);
    ledger.contributed(entries);
    return {at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

void Embeddings::append_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs) {
  const int64_t H = config.hidden_size;
  specs.push_back({.name = "embeddings.LayerNorm.weight", .shape = {H}, .has_weight_decay = false});
  specs.push_back({.name = "embeddings.LayerNorm.bias", .shape = {H}, .has_weight_decay = false});
  specs.push_back({.name = "embeddings.token_type_embeddings.weight", .shape = {config.token_types, H}});
  specs.push_back({.name = "embeddings.position_embeddings.weight", .shape = {config.max_positions, H}});
  specs.push_back(
      {.name = "embeddings.word_embeddings.weight", .shape = {config.vocab_size, H}, .is_lookup_table = true});
}

Embeddings::Embeddings(const EncoderConfig& config, ParameterStore& store)
    : store_(store),
      dropout_(config.dropout),
      norm_epsilon_(config.norm_epsilon),
      word_(store.parameter("embeddings.word_embeddings.weight")),
      position_(store.parameter("embeddings.position_embeddings.weight")),
      token_type_(store.parameter("embeddings.token_type_embeddings.weight")),
      norm_weight_(store.parameter("embeddings.LayerNorm.weight")),
      norm_bias_(store.parameter("embeddings.LayerNorm.bias")) {
  for (const Parameter* parameter : {&word_, &position_, &token_type_, &norm_weight_, &norm_bias_}) {
    store.ledger().declare_use(parameter->entries);
  }
}

at::Tensor Embeddings::forward(const ForwardPassPtr& pass) const {
  store_.settle_word_rows(pass->tokens.word);
  return EmbeddingsFunction::apply(store_.anchor(), this, pass);
}

}  // namespace bertft
