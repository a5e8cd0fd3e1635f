// LAMB (You et al. 2020, algorithm 2): Adam's direction with decoupled decay, scaled for each parameter by its trust
// ratio ||w|| / ||direction||. Two passes over the flat buffers, since the ratio needs the whole parameter.
//
// Follows NVIDIA's apex (FusedLAMB) and timm: bias-corrected moments, ratio 1 where a norm is zero, no upper bound, and
// biases and LayerNorm are neither decayed nor adapted (their ratio is 1). Unlike apex, weight_decay 0 does not switch
// the adaptation of the other parameters off. Clipping is the trainer's (max_grad_norm), before the step.
#pragma once

#include <vector>

#include "optim/lamb_update.h"
#include "optim/optimizer.h"

namespace bertft {

class Lamb final : public Optimizer {
 public:
  // Moments are allocated like `gradients` (flat, fp32 or fp64) and start at zero.
  Lamb(const at::Tensor& gradients, const Layout& layout, const OptimizerOptions& options);

  std::vector<NamedState> state() override;

 protected:
  void update(const at::Tensor& weights, const at::Tensor& gradients, const StepValues& values) override;

 private:
  std::vector<LambParameter> parameters_of_step(double learning_rate, double gradient_scale) const;

  OptimizerOptions options_;
  Layout layout_;
  std::vector<LambBlock> blocks_;
  at::Tensor first_moment_;   // as long as the gradients
  at::Tensor second_moment_;  // as long as the gradients
};

}  // namespace bertft
