#include "comm/nccl/nccl_start.h"

#include "comm/cuda_platform.h"
#include "comm/nccl/nccl_transport.h"
#include "comm/nccl/real_functions.h"
#include "core/error.h"

namespace bertft {

void require_nccl_can_work(const CommOptions& options, const GradientBuffer& gradients) {
  if (options.transport != "nccl") return;
  const std::string what = "comm.transport: nccl sums gradients in the memory of CUDA devices, but ";
  if (!gradients.is_on_device()) {
    const CudaPlatform platform = cuda_platform();
    const std::string why = platform.is_built && platform.device_fault.empty()
                                ? "this run computes on the CPU"
                                : "there is none (" + describe(platform) + ")";
    throw ConfigError(what + why + ". Set comm.transport: native");
  }
  if (options.mode == "horovod") {
    throw ConfigError(what +
                      "comm.mode: horovod copies them on the CPU. Set comm.mode: aiacc or comm.transport: native");
  }
  if (options.sparse_embeddings == "true") {
    throw ConfigError(what + "comm.sparse_embeddings packs them on the CPU. Set it to auto, which does without here");
  }
}

std::unique_ptr<Transport> start_nccl_transport(const CommOptions& options, const World& world, const Layout& layout,
                                                bool has_16_bit_wire, Bootstrap& bootstrap,
                                                const std::shared_ptr<NonFiniteLog>& non_finite) {
  const std::shared_ptr<nccl::Functions> functions = nccl::real_functions();
  NcclOptions nccl;
  // A launcher may show each rank one device only.
  nccl.device = functions->device_count() == 1 ? 0 : world.local_rank;
  nccl.lanes = static_cast<int>(options.lanes.value_or(1));
  nccl.is_hierarchical = options.hierarchical != "false";
  nccl.units = static_cast<int>(layout.units.size());
  nccl.has_16_bit_wire = has_16_bit_wire;
  nccl.on_non_finite = [non_finite](const NonFinite& found) { non_finite->add(found); };
  nccl.control.interface = options.interface;
  nccl.control.port_base = static_cast<int>(options.port_base);
  return make_nccl_transport(bootstrap, functions, nccl);
}

}  // namespace bertft
