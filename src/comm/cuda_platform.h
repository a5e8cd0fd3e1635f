// What this build has of CUDA and NCCL, and what it finds of them on this machine; for --version and for the message
// when a device was asked for. Builds without CUDA answer, too.
#pragma once

#include <string>

namespace bertft {

struct CudaPlatform {
  bool is_built = false;  // compiled with the CUDA toolkit and NCCL
  int toolkit = 0;        // 13000 for 13.0
  int runtime = 0;        // of the library in use
  int driver = 0;         // the newest toolkit that the driver serves; 0 = there is no driver
  int nccl = 0;           // 22809 for 2.28.9
  int devices = 0;
  std::string device_fault;  // why no device can be used; "" when one ran a kernel of this build
};

// Asks the libraries; with a device also runs an empty kernel on it, which fails where this build has no code for it.
CudaPlatform cuda_platform();

// "CUDA 13.0 (no device: ...), NCCL 2.28.9", or that this build has none.
std::string describe(const CudaPlatform& platform);

}  // namespace bertft
