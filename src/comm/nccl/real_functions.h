// The table of functions of this build's NCCL and CUDA runtime.
#pragma once

#include <memory>

#include "comm/nccl/nccl_functions.h"

namespace bertft::nccl {

// Whether this build has them (BERTFT_CUDA).
bool has_real_functions();

// REQUIRES has_real_functions().
std::shared_ptr<Functions> real_functions();

}  // namespace bertft::nccl
