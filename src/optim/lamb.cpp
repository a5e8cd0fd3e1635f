#include "optim/lamb.h"

#include <ATen/ops/zeros_like.h>

#include <cmath>

namespace bertft {

Lamb::Lamb(const at::Tensor& gradients, const Layout& layout, const OptimizerOptions& options)
    : options_(options),
      layout_(layout),
      blocks_(lamb_blocks(layout)),
      first_moment_(at::zeros_like(gradients)),
      second_moment_(at::zeros_like(gradients)) {}

std::vector<NamedState> Lamb::state() { return {{"first_moment", first_moment_}, {"second_moment", second_moment_}}; }

std::vector<LambParameter> Lamb::parameters_of_step(double learning_rate, double gradient_scale) const {
  const auto t = static_cast<double>(applied_steps());
  const auto [beta1, beta2] = options_.betas;
  LambConstants<double> c{};
  c.beta2 = beta2;
  c.epsilon = options_.epsilon;
  c.share1 = 1.0 - beta1;
  c.share2 = 1.0 - beta2;
  c.gradient_scale = gradient_scale;
  c.correction = options_.bias_correction ? 1.0 - std::pow(beta1, t) : 1.0;
  c.root_correction = options_.bias_correction ? std::sqrt(1.0 - std::pow(beta2, t)) : 1.0;
  std::vector<LambParameter> parameters;
  for (const LayoutEntry& entry : layout_.entries) {
    if (!entry.spec.is_trainable) break;  // all behind it are frozen, too
    c.decay = entry.spec.has_weight_decay ? options_.weight_decay : 0.0;
    const double rate_scale = std::pow(options_.layer_decay, static_cast<double>(entry.spec.depth));
    parameters.push_back({c, learning_rate * rate_scale, entry.spec.has_weight_decay});
  }
  return parameters;
}

void Lamb::update(const at::Tensor& weights, const at::Tensor& gradients, const StepValues& values) {
  const LambBuffers buffers = {weights, gradients, first_moment_, second_moment_};
  const std::vector<LambParameter> parameters = parameters_of_step(values.learning_rate, values.gradient_scale);
  if (weights.is_cpu()) {
    lamb_update(buffers, blocks_, parameters);
  } else {
    lamb_update_with_aten(buffers, layout_, parameters);
  }
}

}  // namespace bertft
