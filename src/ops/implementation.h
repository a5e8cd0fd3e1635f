// Every operation of this folder has two implementations that tests compare: kernels of our own for fp32 on the CPU,
// and a composition of ATen operations for any type and device.
#pragma once

#include <ATen/core/Tensor.h>

namespace bertft::ops {

enum class Implementation {
  kAuto,  // own kernels for contiguous-row fp32 tensors on the CPU, else ATen
  kAten,  // always ATen
};

// For tests and debugging; kAuto at start. Not thread-safe: call between operations.
void set_implementation(Implementation implementation);

// Whether an operation on this tensor takes our own kernels.
bool use_own_kernels(const at::Tensor& x);

}  // namespace bertft::ops
