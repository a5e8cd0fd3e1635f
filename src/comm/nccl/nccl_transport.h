// The transport for gradients in device memory: sums by NCCL, on several lanes (communicators with a stream each) that
// one thread launches. Small messages, failure detection and collectives of host bytes are those of the native
// transport, which it owns. docs/communicator-transports.md has what it guarantees, and what has never run on a device.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "comm/bootstrap.h"
#include "comm/native/native_transport.h"
#include "comm/nccl/nccl_functions.h"
#include "comm/transport.h"

namespace bertft {

struct NcclOptions {
  int device = 0;               // of this process, as CUDA counts them
  int lanes = 1;                // 1..64
  bool is_hierarchical = true;  // sum inside a node first; only where all of several nodes have as many ranks, from two
  int units = 0;                // of the layout: ReduceJob::unit is below
  bool has_16_bit_wire = false;  // jobs may ask for fp16, bf16 or mixed: needs half the gradients' memory again
  nccl::Stream compute_stream = nullptr;  // gradients are written on it; null: CUDA's default stream
  double connect_timeout_s = 120.0;       // of one step of NCCL's start or end
  double abort_limit_s = 5.0;             // a wait ends so long after a failure at the latest
  // Called on the launch thread, at the end of its step, for each unit of this rank with values that are no numbers.
  // Must not call the transport.
  std::function<void(const NonFinite&)> on_non_finite;
  NativeOptions control;  // node, interface and ports of the small messages; lanes and hierarchy do not count
};

// Collective. Jobs need `order` and `is_last`; sums take fp32 buffers in device memory, as `functions` allocates it.
// Throws CommError, on all ranks alike, when two ranks have one device, or a rank has none.
std::unique_ptr<Transport> make_nccl_transport(Bootstrap& bootstrap, std::shared_ptr<nccl::Functions> functions,
                                               const NcclOptions& options);

}  // namespace bertft
