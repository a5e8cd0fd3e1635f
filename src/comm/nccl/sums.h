// Sums of ranges of the gradient buffer as NCCL calls and kernels on streams, one stream per lane. Everything here
// only puts work on streams: nothing waits for the device. Used by the launch thread alone, counters() aside.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "comm/native/topology.h"
#include "comm/nccl/communicators.h"
#include "comm/nccl/step_status.h"
#include "comm/transport.h"

namespace bertft::nccl {

// The scale of fp16 where a job names none: sums up to 255 fit, and 2^-22 still has all digits.
constexpr int kDefaultScaleExponent = 8;

struct SumsSettings {
  int lanes = 1;
  bool is_hierarchical = false;
  int units = 0;                    // of the layout
  bool has_16_bit_wire = false;     // jobs may ask for one
  Stream compute_stream = nullptr;  // where gradients are written; null: the default stream
  std::function<void(const NonFinite&)> on_non_finite;
};

class Sums {
 public:
  Sums(Functions& functions, Communicators& communicators, const native::Topology& topology, SumsSettings settings);

  // Before the first launch: allocates, registers. `data`: device memory of `elements` floats.
  void attach(float* data, int64_t elements, WireMap map);
  // After the last: gives all of it back, once the streams have done what is on them. The communicators are finished or
  // aborted by then. False: a stream has not ended within `limit_s`, and everything was left as it is.
  bool release(double limit_s);

  // Puts a sum behind everything that is on the compute stream now. The event completes when the range holds it.
  Event launch(int lane, const ReduceJob& job);
  // `event` has completed and is not used any more.
  void recycle(Event event) { free_events_.push_back(event); }
  // The step's last sum has completed: reports what was not finite, remembers which units overflowed, and returns the
  // flags of all ranks, with kFlagNonFinite when a sum is not finite.
  uint32_t finish_step(int64_t step);

  // Any thread. Messages are NCCL operations, payload the bytes handed to them.
  std::vector<ChannelCounters> counters() const;
  int64_t fallbacks() const { return fallbacks_; }  // sums that travelled as fp32 because their unit had overflowed

 private:
  bool is_idle_within(double limit_s);

  // A piece of a job that travels in one number format.
  struct Part {
    ElementRange range;
    Type type = Type::kFp32;
    std::byte* data = nullptr;  // what NCCL sums, in place
  };
  struct Lane {
    Stream stream = nullptr;
    Event written = nullptr;   // on the compute stream: contributions up to now are written
    Event launched = nullptr;  // everything of the lane up to now
    std::atomic<int64_t> operations{0};
    std::atomic<int64_t> bytes{0};
  };
  // The status of a step; two take turns, so that a step can begin while the one before is read.
  struct Slot {
    std::byte* device = nullptr;
    std::byte* host = nullptr;   // pinned copy
    std::byte* flags = nullptr;  // pinned
    Event cleared = nullptr;
    int64_t step = -1;  // that uses it
    uint32_t raised = 0;
  };

  Slot& slot_of(const ReduceJob& job);
  WireType wire_of(const ReduceJob& job);
  std::vector<Part> parts_of(ElementRange range, WireType wire) const;
  void encode(const std::vector<Part>& parts, const ReduceJob& job, const UnitMarks& marks, Stream stream);
  void decode(const std::vector<Part>& parts, const ReduceJob& job, const UnitMarks& marks, Stream stream);
  void sum_flat(Lane& lane, const Group& world, const std::vector<Part>& parts);
  void sum_by_nodes(Lane& lane, const LaneGroups& groups, const std::vector<Part>& parts);
  void send_status(Lane& lane, const LaneGroups& groups, Slot& slot);
  void reduce(Lane& lane, const Group& group, void* data, int64_t n, Type type, Op op = Op::kSum);
  void count(Lane& lane, int64_t n, Type type);

  Functions& functions_;
  Communicators& communicators_;
  const native::Topology& topology_;
  const SumsSettings settings_;
  const StatusLayout layout_;
  float* data_ = nullptr;
  int64_t elements_ = 0;
  uint16_t* staging_ = nullptr;  // [elements]: the encoded values, at the same indices; none without 16-bit wires
  WireMap map_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::array<Slot, 2> slots_;
  std::vector<Event> free_events_;
  std::map<int, int64_t> fp32_from_;  // unit -> the step from which on it travels as fp32
  std::atomic<int64_t> fallbacks_{0};
};

}  // namespace bertft::nccl
