// The segment through which the ranks of a node keep step: for each channel and rank two counters, a bell, a ring of
// job records, and a staging area for collectives. Gradients lie in segments of their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "comm/native/control_plane.h"
#include "comm/native/doorbell.h"
#include "comm/native/topology.h"
#include "comm/shared_memory.h"

namespace bertft::native {

// What a rank announces about one job before it counts it as posted.
struct JobRecord {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t step = 0;
  uint32_t wire = 0;
  uint32_t flags = 0;         // this rank's
  uint32_t closed_flags = 0;  // of the slice that this rank closed; written before it counts the job as reduced
  int32_t unit = -1;          // for messages
};

constexpr uint64_t kJobRing = 256;  // jobs that a rank may be ahead of the slowest one

// One rank's place on one channel. Written by that rank, read by all; zero at first.
struct alignas(64) Seat {
  alignas(64) std::atomic<uint64_t> posted;   // jobs whose record and contribution stand
  alignas(64) std::atomic<uint64_t> reduced;  // jobs of which this rank's part is done
  alignas(64) Doorbell bell;                  // rung by the others when one of theirs changes
  alignas(64) JobRecord ring[kJobRing];       // job n (from 1) in ring[n % kJobRing]
};

constexpr size_t kStagingBytes = size_t{1} << 20;

// The view of one rank on the segment of its node.
class NodeMemory {
 public:
  NodeMemory() = default;
  // Collective over the node: the leader makes the segment and hands it out. `channels` places per rank.
  NodeMemory(const Topology& topology, int channels, uint64_t job, ControlPlane& control);

  Seat& seat(int channel, int local_rank) const;
  // kStagingBytes of a rank, for collectives.
  std::byte* staging(int local_rank) const;
  // Wakes every thread of this rank that waits at a bell.
  void ring_own(int local_rank) const;

 private:
  struct Head;
  SharedMemory memory_;
  int channels_ = 0;
  int locals_ = 0;
};

// Collective over the node: memory for Transport::share_words().
SharedMemory share_words(const Topology& topology, ControlPlane& control, size_t bytes);

}  // namespace bertft::native
