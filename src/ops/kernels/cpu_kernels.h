// Picks the kernels for this processor.
#pragma once

#include "core/cpu_features.h"
#include "ops/kernels/kernel_table.h"

namespace bertft::ops {

// The table of core's instruction_set(), or of the level that use_kernel_level() set.
const CpuKernels& cpu_kernels();

// For tests: takes the kernels of another level, which this processor must have. Not thread-safe.
void use_kernel_level(InstructionSet level);

}  // namespace bertft::ops
