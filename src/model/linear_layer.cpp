#include "model/linear_layer.h"

#include <ATen/ops/empty_like.h>

#include "core/profile.h"
#include "model/function_state.h"
#include "ops/linear.h"

namespace bertft {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

struct LinearState : torch::CustomClassHolder {
  at::Tensor x;  // [N, inputs]
};

}  // namespace

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& /*anchor*/,
                            const LinearLayer* layer) {
    const ProfileScope scope("linear layer");
    auto state = c10::make_intrusive<LinearState>();
    state->x = x;
    at::Tensor y = ops::linear(x, layer->weight_.value);
    y.add_(layer->bias_.value);
    keep_state(context, std::move(state));
    context->saved_data["layer"] = reinterpret_cast<int64_t>(layer);
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const ProfileScope scope("linear layer");
    const auto* layer = reinterpret_cast<const LinearLayer*>(context->saved_data.at("layer").toInt());
    const auto state = take_state<LinearState>(context);
    const at::Tensor dy = gradients[0].contiguous();
    GradientLedger& ledger = layer->store_.ledger();
    at::Tensor bias_gradient = layer->bias_.gradient;
    ops::bias_backward(dy, bias_gradient, ledger.beta(layer->bias_.entries));
    ledger.contributed(layer->bias_.entries);
    at::Tensor weight_gradient = layer->weight_.gradient;
    ops::linear_backward_weight(dy, state->x, weight_gradient, ledger.beta(layer->weight_.entries));
    ledger.contributed(layer->weight_.entries);
    at::Tensor dx;
    if (context->needs_input_grad(0)) {  // not when all below is frozen
      dx = at::empty_like(state->x);
      ops::linear_backward_input(dy, layer->weight_.value, dx, 0.0);
    }
    return {dx, at::Tensor(), at::Tensor()};
  }
};

void LinearLayer::append_specs(const std::string& scope, int64_t outputs, int64_t inputs,
                               std::vector<ParameterSpec>& specs) {
  specs.push_back({.name = scope + ".bias", .shape = {outputs}, .has_weight_decay = false});
  specs.push_back({.name = scope + ".weight", .shape = {outputs, inputs}});
}

LinearLayer::LinearLayer(ParameterStore& store, const std::string& scope)
    : store_(store), weight_(store.parameter(scope + ".weight")), bias_(store.parameter(scope + ".bias")) {
  store.ledger().declare_use(weight_.entries);
  store.ledger().declare_use(bias_.entries);
}

at::Tensor LinearLayer::forward(const at::Tensor& x) const { return LinearFunction::apply(x, store_.anchor(), this); }

}  // namespace bertft
