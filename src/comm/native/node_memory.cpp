#include "comm/native/node_memory.h"

#include "core/error.h"

namespace bertft::native {
namespace {

constexpr uint32_t kNodeTag = 1;  // of the segment among those that the ranks of a node exchange
constexpr uint32_t kWordsTag = 4;
constexpr size_t kPage = 4096;

}  // namespace

// First page of the segment. The job is written last.
struct NodeMemory::Head {
  std::atomic<uint64_t> job;
  uint32_t channels;
  uint32_t locals;
};

NodeMemory::NodeMemory(const Topology& topology, int channels, uint64_t job, ControlPlane& control)
    : channels_(channels), locals_(topology.local_size()) {
  const auto seats = static_cast<size_t>(channels) * static_cast<size_t>(locals_);
  const size_t bytes = kPage + seats * sizeof(Seat) + static_cast<size_t>(locals_) * kStagingBytes;
  if (topology.local_rank == 0) {
    memory_ = SharedMemory::create(bytes, "bertft node");
    Head& head = *static_cast<Head*>(memory_.data());
    head.channels = static_cast<uint32_t>(channels);
    head.locals = static_cast<uint32_t>(locals_);
    head.job.store(job, std::memory_order_release);
    for (const int peer : topology.locals()) {
      if (peer != topology.rank) control.send_memory(peer, kNodeTag, memory_);
    }
    return;
  }
  memory_ = control.take_memory(topology.leader(), kNodeTag, bytes);
  const Head& head = *static_cast<const Head*>(memory_.data());
  if (head.job.load(std::memory_order_acquire) != job || head.channels != static_cast<uint32_t>(channels) ||
      head.locals != static_cast<uint32_t>(locals_)) {
    throw CommError("the ranks of this node lay out their shared memory differently: do they run the same program?");
  }
}

Seat& NodeMemory::seat(int channel, int local_rank) const {
  auto* seats = reinterpret_cast<Seat*>(static_cast<std::byte*>(memory_.data()) + kPage);
  return seats[channel * locals_ + local_rank];
}

std::byte* NodeMemory::staging(int local_rank) const {
  const auto seats = static_cast<size_t>(channels_) * static_cast<size_t>(locals_);
  return static_cast<std::byte*>(memory_.data()) + kPage + seats * sizeof(Seat) +
         static_cast<size_t>(local_rank) * kStagingBytes;
}

void NodeMemory::ring_own(int local_rank) const {
  for (int channel = 0; channel < channels_; ++channel) {
    ring(seat(channel, local_rank).bell);
  }
}

SharedMemory share_words(const Topology& topology, ControlPlane& control, size_t bytes) {
  if (topology.local_rank != 0) return control.take_memory(topology.leader(), kWordsTag, bytes);
  const SharedMemory words = SharedMemory::create(bytes, "bertft words");
  for (const int peer : topology.locals()) {
    if (peer != topology.rank) control.send_memory(peer, kWordsTag, words);
  }
  return words;
}

}  // namespace bertft::native
