// From the options of section `comm` to a communicator: the only place that knows which there are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "comm/bootstrap.h"
#include "comm/communicator.h"
#include "comm/gradient_buffer.h"
#include "comm/options.h"
#include "comm/rank_link.h"
#include "comm/world.h"
#include "core/layout.h"

namespace bertft {

// What `auto` stands for: the number format between nodes.
std::string resolved_wire(const CommOptions& options, const World& world);

// What make_layout() shall cut the gradients into: each parameter by itself in mode horovod, as Horovod does.
int64_t unit_elements(const CommOptions& options);

// Elements of the gradient buffer that the communicator needs: those of the layout, and what it needs behind them.
int64_t gradient_elements(const CommOptions& options, const Layout& layout, const World& world);

// Collective. `are_cores_filled`: the compute threads of the ranks leave this machine no core to make sums on; counts
// when it is so for all ranks. `layout` and `gradients`, whose units are summed in place, must outlive the
// communicator. `link`: what connect_ranks() gave with the same options; without it this function calls it. Throws as
// connect_ranks() and require_transport_can_work().
std::unique_ptr<Communicator> make_communicator(const CommOptions& options, const Layout& layout, const World& world,
                                                Bootstrap& bootstrap, const GradientBuffer& gradients,
                                                bool are_cores_filled, std::shared_ptr<RankLink> link = nullptr);

}  // namespace bertft
