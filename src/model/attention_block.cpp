#include "model/attention_block.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/index_select.h>

#include "core/profile.h"
#include "model/function_state.h"
#include "ops/linear.h"
#include "ops/residual_norm.h"

namespace bertft {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

struct AttentionState : torch::CustomClassHolder {
  const AttentionBlock* block = nullptr;
  ForwardPassPtr pass;
  ops::Queries queries = ops::Queries::kAll;
  at::Tensor hidden;          // [T, H]
  at::Tensor first_hidden;    // [S, H], kFirst only
  at::Tensor first_rows;      // [S], kFirst only
  ops::AttentionInput input;  // biases added
  ops::AttentionResult attended;
  ops::ResidualNormResult normed;
  ops::Dropout probability_dropout, output_dropout;

  const ops::Sequences& output_sequences() const {
    return queries == ops::Queries::kAll ? pass->sequences : pass->first_tokens;
  }
};

// Columns part * H .. (part + 1) * H - 1 of a [T, parts * H] matrix.
at::Tensor part_of(const at::Tensor& fused, int64_t part, int64_t H) { return fused.narrow(1, part * H, H); }

}  // namespace

struct AttentionBlockFunction : torch::autograd::Function<AttentionBlockFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& hidden, const at::Tensor& /*anchor*/,
                            const AttentionBlock* block, const ForwardPassPtr& pass, ops::Queries queries) {
    const ProfileScope scope("attention block");
    auto state = c10::make_intrusive<AttentionState>();
    state->block = block;
    state->pass = pass;
    state->queries = queries;
    state->hidden = hidden;
    state->probability_dropout =
        pass->dropout(block->attention_dropout_, block->layer_, DropoutSite::kAttentionProbabilities);
    state->output_dropout = pass->dropout(block->dropout_, block->layer_, DropoutSite::kAttentionOutput);
    project_inputs(*state);
    const int64_t H = hidden.size(1);
    const at::Tensor& bias = block->qkv_bias_.value;
    state->attended = ops::attention(
        state->input, {bias.narrow(0, 0, H), bias.narrow(0, H, H), bias.narrow(0, 2 * H, H)}, settings(*state));
    at::Tensor projected = ops::linear(state->attended.context, block->output_weight_.value);
    const at::Tensor& residual = queries == ops::Queries::kAll ? hidden : state->first_hidden;
    state->normed = ops::bias_dropout_residual_norm(projected, block->output_bias_.value, residual, norm(*block),
                                                    state->output_sequences(), state->output_dropout);
    at::Tensor output = std::move(state->normed.output);
    state->normed.output.reset();
    keep_state(context, std::move(state));
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const ProfileScope scope("attention block");
    const auto state = take_state<AttentionState>(context);
    const AttentionBlock& block = *state->block;
    GradientLedger& ledger = block.store_.ledger();
    const at::Tensor dy = gradients[0].contiguous();

    const std::vector<int> norm_entries = {block.norm_weight_.entries[0], block.norm_bias_.entries[0],
                                           block.output_bias_.entries[0]};
    ops::ResidualNormGradients after{at::empty_like(dy),          at::empty_like(dy),
                                     block.output_bias_.gradient, block.norm_weight_.gradient,
                                     block.norm_bias_.gradient,   ledger.beta(norm_entries)};
    ops::bias_dropout_residual_norm_backward(dy, state->normed, norm(block), state->output_sequences(),
                                             state->output_dropout, after);
    ledger.contributed(norm_entries);

    at::Tensor output_weight_gradient = block.output_weight_.gradient;
    ops::linear_backward_weight(after.x, state->attended.context, output_weight_gradient,
                                ledger.beta(block.output_weight_.entries));
    ledger.contributed(block.output_weight_.entries);
    at::Tensor context_gradient = at::empty_like(state->attended.context);
    ops::linear_backward_input(after.x, block.output_weight_.value, context_gradient, 0.0);

    const bool needs_input_gradient = context->needs_input_grad(0);  // not when all below is frozen
    const ResidualGradient residual = {after.residual, needs_input_gradient};
    at::Tensor dx = state->queries == ops::Queries::kAll ? backward_all(*state, context_gradient, residual)
                                                         : backward_first(*state, context_gradient, residual);
    ledger.contributed(block.qkv_weight_.entries);
    ledger.contributed(block.qkv_bias_.entries);
    return {dx, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }

 private:
  static ops::NormParameters norm(const AttentionBlock& block) {
    return {block.norm_weight_.value, block.norm_bias_.value, block.norm_epsilon_};
  }

  static ops::AttentionSettings settings(const AttentionState& state) {
    return {state.pass->sequences, state.probability_dropout, state.block->heads_, state.queries};
  }

  // Fills state.input with the products of the input and the query, key and value weights.
  static void project_inputs(AttentionState& state) {
    const int64_t H = state.hidden.size(1);
    const at::Tensor& weight = state.block->qkv_weight_.value;
    if (state.queries == ops::Queries::kAll) {
      const at::Tensor qkv = ops::linear(state.hidden, weight);  // [T, 3H]
      state.input = {part_of(qkv, 0, H), part_of(qkv, 1, H), part_of(qkv, 2, H)};
      return;
    }
    state.first_rows = ops::first_rows(state.pass->sequences, state.hidden.device());
    state.first_hidden = at::index_select(state.hidden, 0, state.first_rows);
    const at::Tensor kv = ops::linear(state.hidden, weight.narrow(0, H, 2 * H));  // [T, 2H]
    state.input = {ops::linear(state.first_hidden, weight.narrow(0, 0, H)), part_of(kv, 0, H), part_of(kv, 1, H)};
  }

  // Gradient of the residual; whether that of the input, to which it is a part, is asked for.
  struct ResidualGradient {
    at::Tensor value;
    bool needs_input;
  };

  // Gradients of the fused projections, and of the input [T, H] when asked for: `residual` is added to in place.
  static at::Tensor backward_all(const AttentionState& state, const at::Tensor& context_gradient,
                                 ResidualGradient residual) {
    const AttentionBlock& block = *state.block;
    const int64_t T = state.hidden.size(0);
    const int64_t H = state.hidden.size(1);
    at::Tensor dqkv = at::empty({T, 3 * H}, state.hidden.options());
    ops::AttentionInput parts{part_of(dqkv, 0, H), part_of(dqkv, 1, H), part_of(dqkv, 2, H)};
    ops::attention_backward(context_gradient, state.input, state.attended, settings(state), parts);
    write_projection_gradients(block, dqkv, state.hidden, 0);
    if (!residual.needs_input) return {};
    ops::linear_backward_input(dqkv, block.qkv_weight_.value, residual.value, 1.0);
    return residual.value;
  }

  // As above when only the first tokens asked: the residual belongs to them alone.
  static at::Tensor backward_first(const AttentionState& state, const at::Tensor& context_gradient,
                                   ResidualGradient residual) {
    const AttentionBlock& block = *state.block;
    const int64_t T = state.hidden.size(0);
    const int64_t H = state.hidden.size(1);
    at::Tensor dkv = at::empty({T, 2 * H}, state.hidden.options());
    ops::AttentionInput parts{at::empty_like(context_gradient), part_of(dkv, 0, H), part_of(dkv, 1, H)};
    ops::attention_backward(context_gradient, state.input, state.attended, settings(state), parts);
    write_projection_gradients(block, parts.query, state.first_hidden, 0);
    write_projection_gradients(block, dkv, state.hidden, H);
    if (!residual.needs_input) return {};
    const at::Tensor& weight = block.qkv_weight_.value;
    ops::linear_backward_input(parts.query, weight.narrow(0, 0, H), residual.value, 1.0);
    at::Tensor dx = at::empty_like(state.hidden);
    ops::linear_backward_input(dkv, weight.narrow(0, H, 2 * H), dx, 0.0);
    dx.index_add_(0, state.first_rows, residual.value);
    return dx;
  }

  // Rows first_row .. of the fused weight and bias get the gradient that dy [N, rows] and x [N, H] imply.
  static void write_projection_gradients(const AttentionBlock& block, const at::Tensor& dy, const at::Tensor& x,
                                         int64_t first_row) {
    const GradientLedger& ledger = block.store_.ledger();
    at::Tensor bias = block.qkv_bias_.gradient.narrow(0, first_row, dy.size(1));
    ops::bias_backward(dy, bias, ledger.beta(block.qkv_bias_.entries));
    at::Tensor weight = block.qkv_weight_.gradient.narrow(0, first_row, dy.size(1));
    ops::linear_backward_weight(dy, x, weight, ledger.beta(block.qkv_weight_.entries));
  }
};

void AttentionBlock::append_specs(const EncoderConfig& config, const std::string& scope,
                                  std::vector<ParameterSpec>& specs) {
  const int64_t H = config.hidden_size;
  specs.push_back({.name = scope + ".output.LayerNorm.weight", .shape = {H}, .has_weight_decay = false});
  specs.push_back({.name = scope + ".output.LayerNorm.bias", .shape = {H}, .has_weight_decay = false});
  specs.push_back({.name = scope + ".output.dense.bias", .shape = {H}, .has_weight_decay = false});
  specs.push_back({.name = scope + ".output.dense.weight", .shape = {H, H}});
  for (const char* part : {"query", "key", "value"}) {
    specs.push_back({.name = scope + ".self." + part + ".weight",
                     .shape = {H, H},
                     .continues_previous = std::string(part) != "query"});
  }
  for (const char* part : {"query", "key", "value"}) {
    specs.push_back({.name = scope + ".self." + part + ".bias",
                     .shape = {H},
                     .has_weight_decay = false,
                     .continues_previous = std::string(part) != "query"});
  }
}

AttentionBlock::AttentionBlock(const EncoderConfig& config, ParameterStore& store, int64_t layer)
    : store_(store),
      layer_(layer),
      heads_(config.heads),
      dropout_(config.dropout),
      attention_dropout_(config.attention_dropout),
      norm_epsilon_(config.norm_epsilon) {
  const std::string scope = "encoder.layer." + std::to_string(layer) + ".attention";
  const std::string self = scope + ".self.";
  qkv_weight_ = store.fused({self + "query.weight", self + "key.weight", self + "value.weight"});
  qkv_bias_ = store.fused({self + "query.bias", self + "key.bias", self + "value.bias"});
  output_weight_ = store.parameter(scope + ".output.dense.weight");
  output_bias_ = store.parameter(scope + ".output.dense.bias");
  norm_weight_ = store.parameter(scope + ".output.LayerNorm.weight");
  norm_bias_ = store.parameter(scope + ".output.LayerNorm.bias");
  for (const Parameter* parameter :
       {&qkv_weight_, &qkv_bias_, &output_weight_, &output_bias_, &norm_weight_, &norm_bias_}) {
    store.ledger().declare_use(parameter->entries);
  }
}

at::Tensor AttentionBlock::forward(const at::Tensor& hidden, const ForwardPassPtr& pass, ops::Queries queries) const {
  return AttentionBlockFunction::apply(hidden, store_.anchor(), this, pass, queries);
}

}  // namespace bertft
