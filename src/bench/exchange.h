// One way of summing the gradients of a step, as a benchmark drives it: a communicator of this project, or MPI alone.
#pragma once

#include <memory>
#include <string>

#include "bench/bench_mode.h"
#include "comm/bootstrap.h"
#include "comm/communicator.h"
#include "comm/gradient_buffer.h"
#include "comm/wire/wire_type.h"
#include "comm/world.h"
#include "core/layout.h"

namespace bertft {

// Calls are collective and come from one thread; they throw CommError as those of Communicator do.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual std::string description() const = 0;
  virtual bool has_counts() const = 0;  // false: of counters() only the times are known
  virtual Counters counters() const = 0;

  virtual void barrier() = 0;
  virtual void step_begin(int64_t step) = 0;
  virtual void mark_ready(int unit) = 0;
  virtual void finish() = 0;
  virtual const float* sums() const = 0;  // of the step that has ended

  virtual void abort(const std::string& cause) noexcept = 0;
  virtual void close() = 0;
};

// Elements of fp32 that a gradient buffer needs so that any of `modes` can be opened over it.
int64_t elements_for(const std::vector<BenchMode>& modes, const Payload& payload, const World& world);
// The number format between nodes that the mode uses.
WireType wire_of(const BenchMode& mode, const World& world);

// Collective. `layout` and `gradients` outlive the exchange.
std::unique_ptr<Exchange> open_exchange(const BenchMode& mode, const Layout& layout, const GradientBuffer& gradients,
                                        const World& world, Bootstrap& bootstrap);

}  // namespace bertft
