// One channel of a node's shared memory as seen by one rank: announce a job, see who else has, announce that one's part
// is done, and wait for either.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/native/failure.h"
#include "comm/native/node_memory.h"
#include "comm/native/topology.h"
#include "comm/native/waiting.h"

namespace bertft::native {

class NodeChannel {
 public:
  struct Context {
    const Topology& topology;
    const NodeMemory& memory;
    Failure& failure;
    double wait_limit_s;  // 0: none
  };
  // `lane`: for reports, -1 for collectives.
  NodeChannel(const Context& context, int channel, int lane, WaitRecord& record);

  // Announces this rank's next job and returns its number, from 1. Waits only when this rank is kJobRing jobs ahead.
  uint64_t post(const JobRecord& record);
  uint64_t posted() const { return posted_; }
  // Have all ranks of the node posted job `number`? Throws CommError when theirs is another job than ours.
  bool is_posted_by_all(uint64_t number);
  void wait_posted(uint64_t number);

  const JobRecord& record_of(uint64_t number, int local_rank) const;
  // The OR of the flags that the ranks of this node posted with a job.
  uint32_t posted_flags(uint64_t number) const;

  // This rank's part of job `number` is done; jobs are done in order.
  void set_reduced(uint64_t number, uint32_t closed_flags);
  bool is_reduced_by_all(uint64_t number) const;
  void wait_reduced(uint64_t number);
  // The OR of the flags that the first `slices` ranks closed.
  uint32_t closed_flags(uint64_t number, int slices) const;

 private:
  Seat& seat(int local_rank) const { return context_.memory.seat(channel_, local_rank); }
  Seat& own() const { return seat(context_.topology.local_rank); }
  void ring_peers();
  void compare(uint64_t number) const;
  std::vector<int> ranks_behind(const std::atomic<uint64_t> Seat::*counter, uint64_t number) const;
  void wait(const std::atomic<uint64_t> Seat::*counter, uint64_t number, const char* what);

  Context context_;
  const int channel_;
  const int lane_;
  WaitRecord& record_;
  uint64_t posted_ = 0;
  uint64_t compared_ = 0;  // up to this job the ranks' records are known to be equal
};

}  // namespace bertft::native
