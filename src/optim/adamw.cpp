#include "optim/adamw.h"

#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "optim/adamw_update.h"

namespace bertft {

AdamW::AdamW(const at::Tensor& gradients, const Layout& layout, const OptimizerOptions& options)
    : options_(options),
      groups_(param_groups(layout, options.weight_decay, options.layer_decay)),
      first_moment_(at::zeros_like(gradients)),
      second_moment_(at::zeros_like(gradients)) {}

std::vector<NamedState> AdamW::state() { return {{"first_moment", first_moment_}, {"second_moment", second_moment_}}; }

void AdamW::update(const at::Tensor& weights, const at::Tensor& gradients, double learning_rate,
                   double gradient_scale) {
  const auto t = static_cast<double>(applied_steps());
  const auto [beta1, beta2] = options_.betas;
  const double correction1 = options_.bias_correction ? 1.0 - std::pow(beta1, t) : 1.0;
  const double correction2 = options_.bias_correction ? 1.0 - std::pow(beta2, t) : 1.0;
  const auto constants_for = [&]<typename T>(T, const ParamGroup& group) {
    const double rate = learning_rate * group.rate_scale;
    return AdamWConstants<T>{static_cast<T>(beta2),
                             static_cast<T>(options_.epsilon),
                             static_cast<T>(1.0 - beta1),
                             static_cast<T>(1.0 - beta2),
                             static_cast<T>(gradient_scale),
                             static_cast<T>(rate / correction1),
                             static_cast<T>(std::sqrt(correction2)),
                             static_cast<T>(1.0 - rate * group.weight_decay)};
  };
  const auto range = [](const at::Tensor& flat, const ParamGroup& group) {
    return flat.slice(0, group.begin, group.end);
  };
  const auto run_on_cpu = [&]<typename T>(T type) {
    for (const ParamGroup& group : groups_) {
      adamw_update(range(weights, group).template mutable_data_ptr<T>(),
                   range(gradients, group).template const_data_ptr<T>(),
                   range(first_moment_, group).template mutable_data_ptr<T>(),
                   range(second_moment_, group).template mutable_data_ptr<T>(), group.end - group.begin,
                   constants_for(type, group));
    }
  };
  if (weights.is_cpu()) {
    weights.scalar_type() == at::kDouble ? run_on_cpu(double{}) : run_on_cpu(float{});
    return;
  }
  for (const ParamGroup& group : groups_) {
    adamw_update_with_aten(range(weights, group), range(gradients, group), range(first_moment_, group),
                           range(second_moment_, group), constants_for(double{}, group));
  }
}

}  // namespace bertft
