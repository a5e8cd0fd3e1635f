#include "comm/nccl/sums.h"

#include <fmt/format.h>

#include <thread>

#include "comm/agreed.h"
#include "comm/nccl/backoff.h"
#include "core/error.h"
#include "core/layout.h"
#include "core/log.h"
#include "core/timer.h"

namespace bertft::nccl {
namespace {

Type type_of(WireType wire) {
  return wire == WireType::kFp32 ? Type::kFp32 : wire == WireType::kFp16 ? Type::kFp16 : Type::kBf16;
}

// The host learns of a step at its end at the earliest, and with a step on its way at the end of the next one.
constexpr int64_t kStepsUntilFp32 = 2;

}  // namespace

Sums::Sums(Functions& functions, Communicators& communicators, const native::Topology& topology, SumsSettings settings)
    : functions_(functions),
      communicators_(communicators),
      topology_(topology),
      settings_(std::move(settings)),
      layout_(settings_.units) {
  for (int i = 0; i < settings_.lanes; ++i) {
    lanes_.push_back(std::make_unique<Lane>());
  }
}

void Sums::attach(float* data, int64_t elements, WireMap map) {
  data_ = data;
  elements_ = elements;
  map_ = std::move(map);
  for (const auto& lane : lanes_) {
    lane->stream = functions_.create_stream();
    lane->written = functions_.create_event();
    lane->launched = functions_.create_event();
  }
  communicators_.register_buffer(data_, static_cast<size_t>(elements) * sizeof(float));
  if (settings_.has_16_bit_wire) {
    const size_t bytes = static_cast<size_t>(elements) * sizeof(uint16_t);
    staging_ = static_cast<uint16_t*>(functions_.allocate_device(bytes));
    communicators_.register_buffer(staging_, bytes);
  }
  for (Slot& slot : slots_) {
    slot.device = static_cast<std::byte*>(functions_.allocate_device(layout_.bytes()));
    slot.host = static_cast<std::byte*>(functions_.allocate_pinned(layout_.bytes()));
    slot.flags = static_cast<std::byte*>(functions_.allocate_pinned(StatusLayout::kFlags));
    slot.cleared = functions_.create_event();
    functions_.clear(slot.device, layout_.bytes(), lanes_.front()->stream);
    functions_.record(slot.cleared, lanes_.front()->stream);
  }
}

bool Sums::is_idle_within(double limit_s) {
  const Timer waited;
  Backoff backoff;
  for (const auto& lane : lanes_) {
    if (lane->stream == nullptr) continue;
    functions_.record(lane->launched, lane->stream);
    while (!functions_.is_complete(lane->launched)) {
      if (waited.seconds() > limit_s) return false;
      std::this_thread::sleep_for(backoff.next());
    }
  }
  return true;
}

bool Sums::release(double limit_s) {
  if (!is_idle_within(limit_s)) return false;
  for (Slot& slot : slots_) {
    if (slot.device != nullptr) functions_.free_device(slot.device);
    if (slot.host != nullptr) functions_.free_pinned(slot.host);
    if (slot.flags != nullptr) functions_.free_pinned(slot.flags);
    if (slot.cleared != nullptr) functions_.destroy_event(slot.cleared);
    slot = {};
  }
  if (staging_ != nullptr) functions_.free_device(staging_);
  staging_ = nullptr;
  for (const auto& lane : lanes_) {
    if (lane->launched != nullptr) functions_.destroy_event(lane->launched);
    if (lane->written != nullptr) functions_.destroy_event(lane->written);
    if (lane->stream != nullptr) functions_.destroy_stream(lane->stream);
    lane->launched = lane->written = nullptr;
    lane->stream = nullptr;
  }
  for (Event event : free_events_) functions_.destroy_event(event);
  free_events_.clear();
  return true;
}

Sums::Slot& Sums::slot_of(const ReduceJob& job) {
  Slot& slot = slots_[static_cast<size_t>(job.step) % slots_.size()];
  if (slot.step == job.step) return slot;
  check(slot.step < 0, "a step that begins before the one two steps earlier has had its last sum");
  slot.step = job.step;
  slot.raised = 0;
  return slot;
}

WireType Sums::wire_of(const ReduceJob& job) {
  if (job.wire == WireType::kFp32) return job.wire;
  check(settings_.has_16_bit_wire, "a 16-bit wire where none was announced");
  const auto found = fp32_from_.find(job.unit);
  if (found == fp32_from_.end() || job.step < found->second) return job.wire;
  ++fallbacks_;
  return WireType::kFp32;
}

// Neighbouring blocks of one format are one part: NCCL cuts by itself.
std::vector<Sums::Part> Sums::parts_of(ElementRange range, WireType wire) const {
  std::vector<Part> parts;
  for (const WireBlock& block : map_.blocks(range, wire)) {
    const Type type = type_of(block.wanted);
    if (!parts.empty() && parts.back().type == type) {
      parts.back().range.end = block.range.end;
      continue;
    }
    std::byte* data = type == Type::kFp32 ? reinterpret_cast<std::byte*>(data_ + block.range.begin)
                                          : reinterpret_cast<std::byte*>(staging_ + block.range.begin);
    parts.push_back({block.range, type, data});
  }
  return parts;
}

Event Sums::launch(int lane_index, const ReduceJob& job) {
  check(data_ != nullptr, "a sum before attach()");
  check(job.range.begin >= 0 && job.range.begin <= job.range.end && job.range.end <= elements_,
        "a range outside the gradient buffer");
  check(job.unit >= 0 && job.unit < settings_.units, "a unit that is not in the layout");
  Lane& lane = *lanes_[static_cast<size_t>(lane_index)];
  const LaneGroups groups = communicators_.lane(lane_index);
  Slot& slot = slot_of(job);
  slot.raised |= job.flags;
  const UnitMarks marks = layout_.marks(slot.device, job.unit);
  functions_.record(lane.written, settings_.compute_stream);
  functions_.wait(lane.stream, lane.written);
  functions_.wait(lane.stream, slot.cleared);
  const std::vector<Part> parts = parts_of(job.range, wire_of(job));
  encode(parts, job, marks, lane.stream);
  if (!parts.empty()) {
    if (settings_.is_hierarchical) {
      sum_by_nodes(lane, groups, parts);
    } else {
      sum_flat(lane, *groups.world, parts);
    }
  }
  decode(parts, job, marks, lane.stream);
  if (job.is_last) send_status(lane, groups, slot);
  functions_.record(lane.launched, lane.stream);
  if (free_events_.empty()) free_events_.push_back(functions_.create_event());
  Event done = free_events_.back();
  free_events_.pop_back();
  functions_.record(done, lane.stream);
  return done;
}

void Sums::encode(const std::vector<Part>& parts, const ReduceJob& job, const UnitMarks& marks, Stream stream) {
  const int exponent = job.scale_exponent.value_or(kDefaultScaleExponent);
  for (const Part& part : parts) {
    const float* x = data_ + part.range.begin;
    if (part.type == Type::kFp32) {
      functions_.scan_contribution(x, part.range.size(), part.range.begin, marks, stream);
    } else {
      functions_.encode(x, part.range.size(), part.range.begin, part.type, exponent, staging_ + part.range.begin, marks,
                        stream);
    }
  }
}

void Sums::decode(const std::vector<Part>& parts, const ReduceJob& job, const UnitMarks& marks, Stream stream) {
  const int exponent = job.scale_exponent.value_or(kDefaultScaleExponent);
  for (const Part& part : parts) {
    float* out = data_ + part.range.begin;
    if (part.type == Type::kFp32) {
      functions_.scan_sum(out, part.range.size(), marks, stream);
    } else {
      functions_.decode(staging_ + part.range.begin, part.range.size(), part.type, exponent, out, marks, stream);
    }
  }
}

void Sums::count(Lane& lane, int64_t n, Type type) {
  ++lane.operations;
  lane.bytes += n * static_cast<int64_t>(bytes_of(type));
}

void Sums::reduce(Lane& lane, const Group& group, void* data, int64_t n, Type type, Op op) {
  communicators_.require(functions_.all_reduce(data, n, type, op, group.comm, lane.stream), "an all-reduce", group);
  count(lane, n, type);
}

void Sums::sum_flat(Lane& lane, const Group& world, const std::vector<Part>& parts) {
  communicators_.group_start();
  for (const Part& part : parts) {
    reduce(lane, world, part.data, part.range.size(), part.type);
  }
  communicators_.group_end(world);
}

// Local rank l sums slice l of the node with its like on other nodes. What is left behind equal slices is the business
// of local rank 0.
void Sums::sum_by_nodes(Lane& lane, const LaneGroups& groups, const std::vector<Part>& parts) {
  struct Cut {
    std::byte* slice;  // of this rank
    int64_t each;      // elements of a slice
    std::byte* rest;
    int64_t rest_size;
  };
  const int64_t locals = topology_.local_size();
  const auto cut_of = [&](const Part& part) {
    const auto width = static_cast<int64_t>(bytes_of(part.type));
    const int64_t each = part.range.size() / locals / kAlignmentElements * kAlignmentElements;
    return Cut{part.data + topology_.local_rank * each * width, each, part.data + locals * each * width,
               part.range.size() - locals * each};
  };
  const Group& node = *groups.node;
  const Group& rail = *groups.rail;
  communicators_.group_start();
  for (const Part& part : parts) {
    const Cut cut = cut_of(part);
    if (cut.each > 0) {
      communicators_.require(functions_.reduce_scatter(part.data, cut.each, part.type, node.comm, lane.stream),
                             "a reduce-scatter", node);
      count(lane, cut.each * locals, part.type);
    }
    if (cut.rest_size > 0) reduce(lane, node, cut.rest, cut.rest_size, part.type);
  }
  communicators_.group_end(node);
  communicators_.group_start();
  for (const Part& part : parts) {
    const Cut cut = cut_of(part);
    if (cut.each > 0) reduce(lane, rail, cut.slice, cut.each, part.type);
    if (cut.rest_size > 0 && topology_.local_rank == 0) reduce(lane, rail, cut.rest, cut.rest_size, part.type);
  }
  communicators_.group_end(rail);
  communicators_.group_start();
  for (const Part& part : parts) {
    const Cut cut = cut_of(part);
    if (cut.each > 0) {
      communicators_.require(functions_.all_gather(part.data, cut.each, part.type, node.comm, lane.stream),
                             "an all-gather", node);
      count(lane, cut.each, part.type);
    }
    if (cut.rest_size > 0) {
      communicators_.require(functions_.broadcast(cut.rest, cut.rest_size, part.type, 0, node.comm, lane.stream),
                             "a broadcast", node);
      count(lane, cut.rest_size, part.type);
    }
  }
  communicators_.group_end(node);
}

// Behind the last sum of every lane: by then all marks of the step are set.
void Sums::send_status(Lane& lane, const LaneGroups& groups, Slot& slot) {
  for (const auto& other : lanes_) {
    if (other.get() != &lane) functions_.wait(lane.stream, other->launched);
  }
  spread_flags(slot.raised, slot.flags);
  std::byte* message = slot.device + layout_.flags_at();
  functions_.copy_to_device(message, slot.flags, StatusLayout::kFlags, lane.stream);
  const std::vector<Group*> levels =
      settings_.is_hierarchical ? std::vector<Group*>{groups.node, groups.rail} : std::vector<Group*>{groups.world};
  for (const Group* group : levels) {
    communicators_.group_start();
    reduce(lane, *group, message, static_cast<int64_t>(layout_.message_bytes()), Type::kUint8, Op::kMax);
    communicators_.group_end(*group);
  }
  functions_.copy_to_host(slot.host, slot.device, layout_.bytes(), lane.stream);
  functions_.clear(slot.device, layout_.bytes(), lane.stream);
  functions_.record(slot.cleared, lane.stream);
}

uint32_t Sums::finish_step(int64_t step) {
  Slot& slot = slots_[static_cast<size_t>(step) % slots_.size()];
  check(slot.step == step, "the end of a step that did not begin");
  StepVerdict verdict = read_status(layout_, slot.host);
  slot.step = -1;
  for (NonFinite& found : verdict.found) {
    found.rank = topology_.rank;
    found.step = step;
    if (settings_.on_non_finite) settings_.on_non_finite(found);
  }
  for (const int unit : verdict.overflowed) {
    if (!fp32_from_.emplace(unit, step + kStepsUntilFp32).second) continue;
    log::warn(
        fmt::format("step {}: the sum of unit {} overflows, though each rank's part is finite: the step does not "
                    "count, and from step {} on the unit travels as fp32",
                    step, unit, step + kStepsUntilFp32));
  }
  return verdict.flags | (verdict.is_sum_finite ? 0u : kFlagNonFinite);
}

std::vector<ChannelCounters> Sums::counters() const {
  std::vector<ChannelCounters> result;
  for (const auto& lane : lanes_) {
    ChannelCounters counters;
    counters.messages_sent = lane->operations;
    counters.payload_sent = lane->bytes;
    result.push_back(counters);
  }
  return result;
}

}  // namespace bertft::nccl
