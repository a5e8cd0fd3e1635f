// An AdamW update by ATen operations, for devices without a kernel of our own.
#pragma once

#include <ATen/core/Tensor.h>

#include "optim/kernels/adamw_update.h"

namespace bertft {

// adamw_update() for tensors of equal shape on any device.
void adamw_update_with_aten(at::Tensor w, const at::Tensor& g, at::Tensor m, at::Tensor v,
                            const AdamWConstants<double>& c);

}  // namespace bertft
