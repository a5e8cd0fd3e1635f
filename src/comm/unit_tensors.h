// What the units of a layout are called where somebody speaks of tensors: the coordinator and the timeline.
#pragma once

#include <vector>

#include "comm/coordinator/tensor_traits.h"
#include "core/layout.h"

namespace bertft {

// By unit. A unit is called by its first parameter, and by its part of it when that has several ("table[2]").
std::vector<TensorSpec> tensors_of_units(const Layout& layout);

}  // namespace bertft
