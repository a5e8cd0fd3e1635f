#include "comm/nccl/wire_kernels.h"

#include <algorithm>

#include "comm/nccl/wire_grid.h"

namespace bertft::nccl {
namespace {

constexpr int kThreads = 256;
// Enough to keep memory busy on every device of the build's architectures; threads take several elements each.
constexpr int64_t kMostBlocks = 1024;

int blocks_for(int64_t n) { return static_cast<int>(std::min((n + kThreads - 1) / kThreads, kMostBlocks)); }

__device__ GridPlace place() {
  return {static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, static_cast<int64_t>(gridDim.x) * blockDim.x};
}

__global__ void encode_kernel(const float* x, int64_t n, int64_t first, Type wire, float scale, uint16_t* out,
                              UnitMarks marks) {
  encode_thread(x, n, first, wire, scale, out, marks, place());
}

__global__ void decode_kernel(const uint16_t* x, int64_t n, Type wire, float scale, float* out, UnitMarks marks) {
  decode_thread(x, n, wire, scale, out, marks, place());
}

__global__ void scan_contribution_kernel(const float* x, int64_t n, int64_t first, UnitMarks marks) {
  scan_contribution_thread(x, n, first, marks, place());
}

__global__ void scan_sum_kernel(const float* x, int64_t n, UnitMarks marks) { scan_sum_thread(x, n, marks, place()); }

}  // namespace

void launch_encode(const float* x, int64_t n, int64_t first, Type wire, float scale, uint16_t* out,
                   const UnitMarks& marks, cudaStream_t stream) {
  encode_kernel<<<blocks_for(n), kThreads, 0, stream>>>(x, n, first, wire, scale, out, marks);
}

void launch_decode(const uint16_t* x, int64_t n, Type wire, float scale, float* out, const UnitMarks& marks,
                   cudaStream_t stream) {
  decode_kernel<<<blocks_for(n), kThreads, 0, stream>>>(x, n, wire, scale, out, marks);
}

void launch_scan_contribution(const float* x, int64_t n, int64_t first, const UnitMarks& marks, cudaStream_t stream) {
  scan_contribution_kernel<<<blocks_for(n), kThreads, 0, stream>>>(x, n, first, marks);
}

void launch_scan_sum(const float* x, int64_t n, const UnitMarks& marks, cudaStream_t stream) {
  scan_sum_kernel<<<blocks_for(n), kThreads, 0, stream>>>(x, n, marks);
}

}  // namespace bertft::nccl
