// Adam (Kingma and Ba 2015) over the flat buffers in one pass, with weight decay added to the gradient (coupled, an L2
// penalty). Matches torch.optim.Adam. AdamW, whose decay leaves the moments alone, is the better choice for BERT.
#pragma once

#include <vector>

#include "optim/optimizer.h"
#include "optim/param_groups.h"

namespace bertft {

class Adam final : public Optimizer {
 public:
  // Moments are allocated like `gradients` (flat, fp32 or fp64) and start at zero.
  Adam(const at::Tensor& gradients, const Layout& layout, const OptimizerOptions& options);

  std::vector<NamedState> state() override;

 protected:
  void update(const at::Tensor& weights, const at::Tensor& gradients, const StepValues& values) override;

 private:
  OptimizerOptions options_;
  std::vector<ParamGroup> groups_;
  at::Tensor first_moment_;   // as long as the gradients
  at::Tensor second_moment_;  // as long as the gradients
};

}  // namespace bertft
