// How an autograd Function of this folder keeps what its backward needs: one typed object instead of a list of tensors.
// The object must not hold the Function's own output (the graph would own itself and never be freed).
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

namespace bertft {

// States derive from torch::CustomClassHolder.
template <typename State>
void keep_state(torch::autograd::AutogradContext* context, c10::intrusive_ptr<State> state) {
  context->saved_data["state"] = c10::IValue::make_capsule(std::move(state));
}

// Takes the state out, so that its tensors are freed when backward is done with them. Backward runs once.
template <typename State>
c10::intrusive_ptr<State> take_state(torch::autograd::AutogradContext* context) {
  auto capsule = context->saved_data.at("state").toCapsule();
  context->saved_data.clear();
  return c10::static_intrusive_pointer_cast<State>(std::move(capsule));
}

}  // namespace bertft
