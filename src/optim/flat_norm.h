// The global norm of a flat gradient buffer and the clip factor that follows from it.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/layout.h"
#include "optim/table_rows.h"

namespace bertft {

struct GradientNorm {
  double norm = 0.0;          // L2 over all trainable parameters
  int first_non_finite = -1;  // index into layout.entries of the first parameter with a NaN or Inf; -1: none
};

// Squares are summed in double in the fixed blocks of the layout (LayoutEntry::norm_block), the blocks in order, so the
// result depends neither on threads nor on the width of vectors. `flat` [layout.trainable_total], fp32 or fp64.
// `touched`: rows of a lookup table outside which its gradient is zero; those need not be read.
GradientNorm gradient_norm(const at::Tensor& flat, const Layout& layout, const TableRows& touched = {});

// min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_; 1 when max_norm is 0 (no clipping).
double clip_factor(double norm, double max_norm);

}  // namespace bertft
