// y = x W^T + b with gradients written straight into the flat buffer: the building block of heads.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "model/parameter_store.h"

namespace bertft {

class LinearLayer {
 public:
  // Appends `scope`.weight [outputs, inputs] and `scope`.bias [outputs], in the order in which backward finishes them.
  static void append_specs(const std::string& scope, int64_t outputs, int64_t inputs,
                           std::vector<ParameterSpec>& specs);

  LinearLayer(ParameterStore& store, const std::string& scope);

  // x [N, inputs] -> [N, outputs]; differentiable. `this` must outlive backward.
  at::Tensor forward(const at::Tensor& x) const;

 private:
  friend struct LinearFunction;
  ParameterStore& store_;
  Parameter weight_;
  Parameter bias_;
};

}  // namespace bertft
