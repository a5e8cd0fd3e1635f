// Horovod's cycle on one rank: which of the tensors that this rank has ready are ready on all ranks, and in which order
// they are added up. A state machine without threads, sockets or clock, after Controller::ComputeResponseList of
// Horovod 0.28.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/coordinator/coordinator_stall.h"
#include "comm/coordinator/cycle_collectives.h"
#include "comm/coordinator/cycle_vote.h"
#include "comm/coordinator/fusion.h"
#include "comm/coordinator/request_table.h"
#include "comm/coordinator/response_cache.h"
#include "comm/coordinator/tensor_lists.h"
#include "comm/coordinator/tensor_queue.h"
#include "comm/timeline/timeline.h"

namespace bertft {

// Equal on all ranks but for `rank`.
struct CoordinatorOptions {
  int rank = 0;
  int size = 1;
  uint64_t job = 0;
  int cache_capacity = 1024;  // responses; 0: every cycle goes the slow path
  FusionOptions fusion = {};  // with the threshold already rounded
  CoordinatorStallOptions stall = {};
  CycleTree tree = CycleTree::kBinomial;
  bool has_timeline = false;  // some rank writes a timeline: the vector of bits doubles
};

// What came out of one cycle; equal on all ranks but for `stall`, which only rank 0 has.
struct CycleOutcome {
  enum class Path { kNothing, kFast, kSlow };
  int64_t cycle = 0;
  Path path = Path::kNothing;
  std::vector<TensorResponse> responses;  // to be carried out in this order
  uint32_t flags = 0;                     // StatusFlag of any rank
  bool is_shutdown = false;
  std::optional<CoordinatorStallReport> stall;
};

// A cycle with a cache (capacity > 0):
//   1. Each waiting tensor is a hit, a miss or invalid (cached with other traits). AND over all ranks (cycle_vote.h),
//   also
//      when nothing waits. 2. If any rank said invalid: OR; all erase those entries. 3. Common hits are agreed; other
//      hits wait for the next cycle. 4. Fast path, when no rank has anything but hits: the common hits in the order of
//      their bits are the responses. 5. Slow path otherwise: lists of misses to rank 0, which answers when all ranks
//      have announced a tensor, common hits first; fused; broadcast; all ranks put the responses into their caches.
// Without a cache every cycle is the slow path.
// Status flags are this project's own; Horovod has none. They ride in the headers of the AND, or of the slow path
// without a cache, so they cost no message and no word.
class CoordinatorCycle {
 public:
  // `timeline` may be null; it is used by rank 0 only and must outlive this object.
  CoordinatorCycle(const CoordinatorOptions& options, Timeline* timeline);

  TensorNames& names() { return names_; }
  // Throws InternalError when the tensor is in flight. REQUIRES has_valid_shape.
  void announce(int tensor, SharedTraits traits);

  // Begins a cycle with what is announced by now. REQUIRES that none runs and that there was no shutdown.
  void tick(double now_s, uint32_t flags, int64_t steps_done, bool wants_shutdown);
  void receive(int from, std::string_view bytes, double now_s);
  std::vector<ControlSend> take_messages() { return collectives_.take_messages(); }
  // Of the cycle that has just ended; once.
  std::optional<CycleOutcome> take_outcome();

  bool is_running() const { return phase_ != Phase::kIdle; }
  bool is_shut_down() const { return is_shut_down_; }
  const TensorQueue& queue() const { return queue_; }
  const ResponseCache& cache() const { return cache_; }
  const CycleCollectives& collectives() const { return collectives_; }

 private:
  enum class Phase { kIdle, kVoting, kErasing, kGathering, kAnswering };

  void look_up(double now_s);
  void check_for_stall(double now_s, bool* wants_shutdown);
  void advance(double now_s);
  void erase_invalid();
  void settle_hits(double now_s);
  void start_slow_path();
  void answer(double now_s);
  void record(int rank, const TensorRequest& request, std::vector<int>* ready, double now_s);
  void adopt_answer();
  void end_cycle();

  CoordinatorOptions options_;
  Timeline* timeline_;
  TensorNames names_;
  TensorQueue queue_;
  ResponseCache cache_;
  RequestTable table_;  // rank 0
  CoordinatorStall stall_;
  CycleCollectives collectives_;

  Phase phase_ = Phase::kIdle;
  bool is_shut_down_ = false;
  uint32_t flags_ = 0;  // of this rank, in this cycle
  CycleVote vote_;
  std::vector<TensorRequest> waiting_;  // what this cycle took from the queue
  ResponseList answer_;                 // at rank 0
  CycleOutcome current_;
  std::optional<CycleOutcome> outcome_;
};

}  // namespace bertft
