// The members of the native transport; its functions are divided by concern among native_transport.cpp (life),
// native_sums.cpp and native_collectives.cpp.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "comm/native/attached_gradients.h"
#include "comm/native/connected_transport.h"
#include "comm/native/leader_links.h"
#include "comm/native/native_transport.h"
#include "comm/native/node_channel.h"
#include "comm/native/node_collectives.h"
#include "comm/native/slice_exchange.h"

namespace bertft::native {

class NativeTransport final : public ConnectedTransport {
 public:
  NativeTransport(Mesh mesh, NativeOptions options);
  ~NativeTransport() override;

  std::string description() const override;

  void open() override;
  const void* attach(const GradientBuffer& buffer, WireMap map) override;
  int lanes() const override { return options_.lanes; }
  uint32_t all_reduce(int lane, const ReduceJob& job) override;
  bool has_inline_sums() const override { return nodes() == 1; }
  void post(int lane, const ReduceJob& job) override;
  bool progress(int lane) override;
  uint32_t wait_posted(int lane) override;

  void broadcast(void* data, size_t bytes, int root) override;
  std::vector<std::string> all_gather(const std::string& mine) override;
  void barrier() override;
  void node_barrier() override;

  void close() override { control().say_bye(); }

  TransportCounters counters() const override;
  std::vector<TransportWait> waits() const override;

 private:
  // What one lane's thread works with.
  struct Lane {
    int index = 0;
    WaitRecord record;
    Meter meter;
    std::unique_ptr<NodeChannel> channel;     // when the node has several ranks
    std::unique_ptr<SliceExchange> exchange;  // when this rank talks to other nodes
    std::vector<const std::byte*> in_memory;  // for the exchange: buffers by participant
    uint64_t jobs = 0;
    uint64_t summed = 0;  // jobs posted and summed, of one node
    uint32_t flags = 0;   // of those since the last wait_posted()
  };

  void make_exchange(Lane& lane);
  void share_buffers(const GradientBuffer& buffer);
  Lane& lane_at(int lane) const;
  JobRecord record_of(const ReduceJob& job) const;

  void sum_posted(Lane& lane, uint64_t number);
  uint32_t reduce_between_nodes(Lane& lane, const ReduceJob& job);
  void sum_slice(Lane& lane, const ReduceJob& job, ElementRange slice, const std::vector<std::byte*>& outputs);
  void copy_to_peers(ElementRange slice);
  void scan_own(const ReduceJob& job, ElementRange range);
  void report_non_finite(const ReduceJob& job, int rank, ElementRange block, const std::byte* buffer);
  bool is_summing_first() const { return options_.is_hierarchical && local_size() > 1; }

  NativeOptions options_;
  NodeMemory memory_;  // when the node has several ranks
  std::unique_ptr<NodeCollectives> node_collectives_;
  std::unique_ptr<LeaderLinks> leaders_;  // on leaders, when there are several nodes

  // Since attach().
  AttachedGradients gradients_;
  std::vector<SharedMemory> segments_;     // of the peers' buffers and the shared result, kept mapped
  std::vector<std::byte*> local_buffers_;  // [local rank]
  std::byte* result_ = nullptr;            // the shared result, or this rank's buffer
  bool has_shared_result_ = false;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace bertft::native
