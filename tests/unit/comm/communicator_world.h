// A world of whole communicators on threads: ranks on "nodes" that are names only, each with a controller, a transport
// and all their threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "comm/gradient_buffer.h"
#include "comm/rank_communicator.h"
#include "core/layout.h"

namespace bertft::test {

struct CommunicatorCase {
  std::vector<std::string> nodes;  // of each rank
  SumThread sums = SumThread::kLane;
  bool is_static = false;
  int lanes = 1;
  std::string text() const;
};

// What one rank sees.
struct CommunicatorView {
  Communicator& communicator;
  GradientBuffer& gradients;
  const float* sums() const { return static_cast<const float*>(communicator.sums()); }
};

// Runs body() on every rank, then closes; a rank whose body throws aborts. kControl: Horovod's controller and its
// fusion by copies, else the decentral one. Errors by rank, "" for none.
std::vector<std::string> run_communicators(const CommunicatorCase& world, const Layout& layout,
                                           const std::function<void(CommunicatorView&)>& body);

// A layout of several parameters of different sizes with about `units` units.
Layout layout_of_units(int units);

// One step: fills the gradients with contribution(rank, step, i) unit by unit in an order of this rank's own, pausing
// now and then, and announces each. `seed` decides order and pauses.
void run_step(CommunicatorView& view, const Layout& layout, int64_t step, uint64_t seed);

}  // namespace bertft::test
