// What a communicator tells whoever wants to watch it, such as a timeline. The default watches nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace bertft {

enum class SumPhase { kCopyIn, kReduce, kCopyOut };

// Times are seconds on one clock. Calls about a unit come in their order, from any thread; implementations are quick
// and never wait.
class CommObserver {
 public:
  virtual ~CommObserver() = default;

  virtual void step_begins(int64_t /*step*/, double /*now_s*/) {}
  virtual void unit_is_ready(int /*unit*/, double /*now_s*/) {}  // on this rank
  virtual void units_are_agreed(const std::vector<int>& /*units*/, double /*now_s*/) {}
  // Units that travel together; each goes through the phases it has, in their order.
  virtual void sum_begins(int /*lane*/, const std::vector<int>& /*units*/, double /*now_s*/) {}
  virtual void sum_enters(const std::vector<int>& /*units*/, SumPhase /*phase*/, double /*now_s*/) {}
  virtual void sum_ends(int /*lane*/, const std::vector<int>& /*units*/, double /*now_s*/) {}
  // The compute thread has nothing left to do but wait for the sums.
  virtual void wait_begins(double /*now_s*/) {}
  virtual void step_ends(double /*now_s*/) {}
  // Nothing follows; what is kept back is written.
  virtual void close() {}
};

}  // namespace bertft
