// AdamW (Loshchilov and Hutter 2019, algorithm 2) over the flat buffers in one pass: scale, moments, decay, update.
// Matches torch.optim.AdamW.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/layout.h"
#include "optim/options.h"
#include "optim/param_groups.h"

namespace bertft {

class AdamW {
 public:
  // Moments are allocated like `weights` (flat, fp32 or fp64) and start at zero.
  AdamW(const at::Tensor& weights, const Layout& layout, const OptimizerOptions& options);

  // One update: every gradient is multiplied by `gradient_scale` first (clipping). Counts one more applied step.
  void step(const at::Tensor& weights, const at::Tensor& gradients, double learning_rate, double gradient_scale);

  int64_t applied_steps() const { return applied_steps_; }

 private:
  OptimizerOptions options_;
  std::vector<ParamGroup> groups_;
  at::Tensor first_moment_;    // [layout.total]
  at::Tensor second_moment_;   // [layout.total]
  int64_t applied_steps_ = 0;  // the t of bias correction: dropped steps do not count
};

}  // namespace bertft
