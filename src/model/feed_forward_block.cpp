#include "model/feed_forward_block.h"

#include <ATen/ops/empty_like.h>

#include "core/error.h"
#include "core/profile.h"
#include "model/function_state.h"
#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/residual_norm.h"

namespace bertft {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

struct FeedForwardState : torch::CustomClassHolder {
  const FeedForwardBlock* block = nullptr;
  ForwardPassPtr pass;
  at::Tensor x;          // [N, H]
  at::Tensor inner;      // [N, I] before the activation, bias added
  at::Tensor activated;  // [N, I]
  ops::ResidualNormResult normed;
  ops::Dropout dropout;

  const ops::Sequences& sequences() const {
    return x.size(0) == pass->sequences.rows() ? pass->sequences : pass->first_tokens;
  }
};

}  // namespace

struct FeedForwardFunction : torch::autograd::Function<FeedForwardFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const FeedForwardBlock* block,
                            const ForwardPassPtr& pass) {
    const ProfileScope scope("feed-forward block");
    auto state = c10::make_intrusive<FeedForwardState>();
    state->block = block;
    state->pass = pass;
    state->x = x;
    state->dropout = pass->dropout(block->dropout_, block->layer_, DropoutSite::kFeedForwardOutput);
    state->inner = ops::linear(x, block->inner_weight_.value);
    state->activated = ops::bias_gelu(state->inner, block->inner_bias_.value);
    at::Tensor outer = ops::linear(state->activated, block->outer_weight_.value);
    state->normed = ops::bias_dropout_residual_norm(outer, block->outer_bias_.value, x, norm(*block),
                                                    state->sequences(), state->dropout);
    at::Tensor output = std::move(state->normed.output);
    state->normed.output.reset();
    keep_state(context, std::move(state));
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const ProfileScope scope("feed-forward block");
    const auto state = take_state<FeedForwardState>(context);
    const FeedForwardBlock& block = *state->block;
    GradientLedger& ledger = block.store_.ledger();
    const at::Tensor dy = gradients[0].contiguous();

    const std::vector<int> norm_entries = {block.norm_weight_.entries[0], block.norm_bias_.entries[0],
                                           block.outer_bias_.entries[0]};
    ops::ResidualNormGradients after{at::empty_like(dy),          at::empty_like(dy),        block.outer_bias_.gradient,
                                     block.norm_weight_.gradient, block.norm_bias_.gradient, ledger.beta(norm_entries)};
    ops::bias_dropout_residual_norm_backward(dy, state->normed, norm(block), state->sequences(), state->dropout, after);
    ledger.contributed(norm_entries);

    at::Tensor outer_gradient = block.outer_weight_.gradient;
    ops::linear_backward_weight(after.x, state->activated, outer_gradient, ledger.beta(block.outer_weight_.entries));
    ledger.contributed(block.outer_weight_.entries);
    at::Tensor d_inner = std::move(state->activated);  // no longer needed: its memory takes the gradient
    ops::linear_backward_input(after.x, block.outer_weight_.value, d_inner, 0.0);
    ops::bias_gelu_backward(d_inner, state->inner);

    at::Tensor inner_bias_gradient = block.inner_bias_.gradient;
    ops::bias_backward(d_inner, inner_bias_gradient, ledger.beta(block.inner_bias_.entries));
    ledger.contributed(block.inner_bias_.entries);
    at::Tensor inner_gradient = block.inner_weight_.gradient;
    ops::linear_backward_weight(d_inner, state->x, inner_gradient, ledger.beta(block.inner_weight_.entries));
    ledger.contributed(block.inner_weight_.entries);
    ops::linear_backward_input(d_inner, block.inner_weight_.value, after.residual, 1.0);
    return {after.residual, at::Tensor(), at::Tensor()};
  }

 private:
  static ops::NormParameters norm(const FeedForwardBlock& block) {
    return {block.norm_weight_.value, block.norm_bias_.value, block.norm_epsilon_};
  }
};

void FeedForwardBlock::append_specs(const EncoderConfig& config, const std::string& scope,
                                    std::vector<ParameterSpec>& specs) {
  const int64_t H = config.hidden_size;
  const int64_t I = config.intermediate_size;
  specs.push_back({.name = scope + ".output.LayerNorm.weight", .shape = {H}, .has_weight_decay = false});
  specs.push_back({.name = scope + ".output.LayerNorm.bias", .shape = {H}, .has_weight_decay = false});
  specs.push_back({.name = scope + ".output.dense.bias", .shape = {H}, .has_weight_decay = false});
  specs.push_back({.name = scope + ".output.dense.weight", .shape = {H, I}});
  specs.push_back({.name = scope + ".intermediate.dense.bias", .shape = {I}, .has_weight_decay = false});
  specs.push_back({.name = scope + ".intermediate.dense.weight", .shape = {I, H}});
}

FeedForwardBlock::FeedForwardBlock(const EncoderConfig& config, ParameterStore& store, int64_t layer)
    : store_(store), layer_(layer), dropout_(config.dropout), norm_epsilon_(config.norm_epsilon) {
  const std::string scope = "encoder.layer." + std::to_string(layer);
  inner_weight_ = store.parameter(scope + ".intermediate.dense.weight");
  inner_bias_ = store.parameter(scope + ".intermediate.dense.bias");
  outer_weight_ = store.parameter(scope + ".output.dense.weight");
  outer_bias_ = store.parameter(scope + ".output.dense.bias");
  norm_weight_ = store.parameter(scope + ".output.LayerNorm.weight");
  norm_bias_ = store.parameter(scope + ".output.LayerNorm.bias");
  for (const Parameter* parameter :
       {&inner_weight_, &inner_bias_, &outer_weight_, &outer_bias_, &norm_weight_, &norm_bias_}) {
    store.ledger().declare_use(parameter->entries);
  }
}

at::Tensor FeedForwardBlock::forward(const at::Tensor& x, const ForwardPassPtr& pass) const {
  check(x.size(0) == pass->sequences.rows() || x.size(0) == pass->first_tokens.rows(),
        "a feed-forward block takes all tokens or the first of every sequence");
  return FeedForwardFunction::apply(x, this, pass);
}

}  // namespace bertft
