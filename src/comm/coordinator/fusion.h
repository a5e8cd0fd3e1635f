// Which responses travel together: small tensors are gathered into one sum of at most a threshold. A pure function,
// equal on all ranks, after FuseResponses of Horovod 0.28 (horovod/common/controller.cc).
#pragma once

#include <cstdint>
#include <vector>

#include "comm/coordinator/tensor_lists.h"

namespace bertft {

struct FusionOptions {
  int64_t threshold_bytes = int64_t{128} << 20;  // 0: nothing is fused
  int64_t padding_bytes = 1;  // each tensor counts as a multiple of it: 16 where copies are batched on a device, else 1
};

// The threshold that Horovod works with: on nodes of equal size rounded up to whole multiples of 64 float64 for each
// local rank. `local_size` 0: the nodes differ, so it is not rounded. 0 stays 0.
int64_t rounded_threshold(int64_t threshold_bytes, int local_size);

// Takes responses about one tensor each, in order. A response is joined by later ones with the same type, operation and
// devices while their sum stays within the threshold; the search ends at the first one of these that does not fit.
// Others are passed over, as long as what is joined plus all that was passed over stays within the threshold, too; they
// keep their order. Errors are never joined.
std::vector<TensorResponse> fused(std::vector<TensorResponse> responses, const FusionOptions& options);

}  // namespace bertft
