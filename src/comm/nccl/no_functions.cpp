// The answer of a build without CUDA.
#include "comm/nccl/real_functions.h"
#include "core/error.h"

namespace bertft::nccl {

bool has_real_functions() { return false; }

std::shared_ptr<Functions> real_functions() { throw InternalError("this build has no NCCL"); }

}  // namespace bertft::nccl
