// The answer of a build with CUDA and NCCL.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "comm/cuda_platform.h"

namespace bertft {
namespace {

__global__ void empty_kernel() {}

// Why no kernel of this build can run on the first device; "" when one did.
std::string device_fault() {
  empty_kernel<<<1, 1>>>();
  const cudaError_t launched = cudaGetLastError();
  const cudaError_t finished = launched == cudaSuccess ? cudaDeviceSynchronize() : launched;
  return finished == cudaSuccess ? "" : cudaGetErrorString(finished);
}

}  // namespace

CudaPlatform cuda_platform() {
  CudaPlatform platform;
  platform.is_built = true;
  platform.toolkit = CUDART_VERSION;
  if (cudaRuntimeGetVersion(&platform.runtime) != cudaSuccess) platform.runtime = 0;
  if (cudaDriverGetVersion(&platform.driver) != cudaSuccess) platform.driver = 0;
  if (ncclGetVersion(&platform.nccl) != ncclSuccess) platform.nccl = 0;
  const cudaError_t counted = cudaGetDeviceCount(&platform.devices);
  if (counted != cudaSuccess) {
    platform.devices = 0;
    platform.device_fault = cudaGetErrorString(counted);
    return platform;
  }
  platform.device_fault = platform.devices == 0 ? "none is installed" : device_fault();
  return platform;
}

}  // namespace bertft
