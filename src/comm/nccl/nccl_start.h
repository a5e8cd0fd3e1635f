// From the options of section `comm` to an nccl transport over the real libraries.
#pragma once

#include <memory>

#include "comm/bootstrap.h"
#include "comm/gradient_buffer.h"
#include "comm/non_finite.h"
#include "comm/options.h"
#include "comm/transport.h"
#include "comm/world.h"
#include "core/layout.h"

namespace bertft {

// Throws ConfigError, with the remedy, when the options ask for nccl where it cannot work: gradients in host memory,
// since no device is there or the run computes on the CPU; mode horovod and sparse_embeddings, which copy gradients on
// the CPU.
void require_nccl_can_work(const CommOptions& options, const GradientBuffer& gradients);

// Collective. REQUIRES that it can work. `has_16_bit_wire`: see NcclOptions.
std::unique_ptr<Transport> start_nccl_transport(const CommOptions& options, const World& world, const Layout& layout,
                                                bool has_16_bit_wire, Bootstrap& bootstrap,
                                                const std::shared_ptr<NonFiniteLog>& non_finite);

}  // namespace bertft
