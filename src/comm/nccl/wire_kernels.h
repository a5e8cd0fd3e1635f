// The wire kernels on a device; bodies in wire_grid.h. They have been compiled, but never run on a device yet.
#pragma once

#include <cuda_runtime_api.h>

#include "comm/nccl/nccl_functions.h"

namespace bertft::nccl {

void launch_encode(const float* x, int64_t n, int64_t first, Type wire, float scale, uint16_t* out,
                   const UnitMarks& marks, cudaStream_t stream);
void launch_decode(const uint16_t* x, int64_t n, Type wire, float scale, float* out, const UnitMarks& marks,
                   cudaStream_t stream);
void launch_scan_contribution(const float* x, int64_t n, int64_t first, const UnitMarks& marks, cudaStream_t stream);
void launch_scan_sum(const float* x, int64_t n, const UnitMarks& marks, cudaStream_t stream);

}  // namespace bertft::nccl
