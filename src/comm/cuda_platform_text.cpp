#include <fmt/format.h>

#include "comm/cuda_platform.h"

namespace bertft {
namespace {

std::string cuda_version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

std::string nccl_version(int number) {
  return fmt::format("{}.{}.{}", number / 10000, number % 10000 / 100, number % 100);
}

}  // namespace

std::string describe(const CudaPlatform& platform) {
  if (!platform.is_built) return "CUDA and NCCL: off in this build";
  const std::string device = platform.device_fault.empty()
                                 ? fmt::format("{} device(s), a kernel of this build ran", platform.devices)
                                 : "no device: " + platform.device_fault;
  return fmt::format("CUDA {} (runtime {}, driver {}; {}), NCCL {}", cuda_version(platform.toolkit),
                     cuda_version(platform.runtime), platform.driver == 0 ? "none" : cuda_version(platform.driver),
                     device, nccl_version(platform.nccl));
}

}  // namespace bertft
