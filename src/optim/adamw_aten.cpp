#include "optim/adamw_aten.h"

#include <ATen/ops/mul.h>
#include <ATen/ops/sqrt.h>

namespace bertft {

void adamw_update_with_aten(at::Tensor w, const at::Tensor& g, at::Tensor m, at::Tensor v,
                            const AdamWConstants<double>& c) {
  const at::Tensor gradient = at::mul(g, c.gradient_scale);
  m.lerp_(gradient, c.share1);
  v.mul_(c.beta2).addcmul_(gradient, gradient, c.share2);
  w.mul_(c.keep).addcdiv_(m, at::sqrt(v).div_(c.root_correction).add_(c.epsilon), -c.step_size);
}

}  // namespace bertft
