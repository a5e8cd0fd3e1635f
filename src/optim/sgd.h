// Stochastic gradient descent with momentum over the flat buffers in one pass. Matches torch.optim.SGD without
// dampening and Nesterov's variant: weight decay is added to the gradient (coupled), the buffer starts at the first
// gradient.
#pragma once

#include <vector>

#include "optim/optimizer.h"
#include "optim/param_groups.h"

namespace bertft {

class Sgd final : public Optimizer {
 public:
  // The momentum buffer is allocated like `gradients` (flat, fp32 or fp64) unless options.momentum is 0.
  Sgd(const at::Tensor& gradients, const Layout& layout, const OptimizerOptions& options);

  std::vector<NamedState> state() override;

 protected:
  void update(const at::Tensor& weights, const at::Tensor& gradients, const StepValues& values) override;

 private:
  double momentum_;
  std::vector<ParamGroup> groups_;
  at::Tensor buffer_;  // as long as the gradients; undefined without momentum
};

}  // namespace bertft
