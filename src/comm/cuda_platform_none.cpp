// The answer of a build without CUDA.
#include "comm/cuda_platform.h"

namespace bertft {

CudaPlatform cuda_platform() { return {}; }

}  // namespace bertft
