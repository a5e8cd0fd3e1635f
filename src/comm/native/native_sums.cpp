// Sums of the native transport: inside a node, between nodes, and what is said about values that are no numbers.
#include <fmt/format.h>

#include <cstring>

#include "comm/native/native_impl.h"
#include "comm/native/node_sum.h"
#include "core/error.h"

namespace bertft::native {

NativeTransport::Lane& NativeTransport::lane_at(int lane) const {
  check(lane >= 0 && lane < options_.lanes, "a lane that is not there");
  return *lanes_[static_cast<size_t>(lane)];
}

JobRecord NativeTransport::record_of(const ReduceJob& job) const {
  JobRecord record;
  record.begin = job.range.begin;
  record.end = job.range.end;
  record.step = job.step;
  record.wire = static_cast<uint32_t>(job.wire);
  record.flags = job.flags;
  record.unit = job.unit;
  return record;
}

void NativeTransport::report_non_finite(const ReduceJob& job, int rank, ElementRange block, const std::byte* buffer) {
  if (!options_.on_non_finite) return;
  const auto found =
      gradients_.find_non_finite(job, rank, block.begin, block.size(), buffer + gradients_.offset_of(block.begin));
  if (found) options_.on_non_finite(*found);
}

// For contributions that nobody of this node sums: looks at them before they leave.
void NativeTransport::scan_own(const ReduceJob& job, ElementRange range) {
  const std::byte* own = local_buffers_[static_cast<size_t>(local_rank())];
  for (const WireBlock& block : gradients_.map().blocks(range, WireType::kFp32)) {
    if (has_non_finite(own, block.range, gradients_.element_bytes())) report_non_finite(job, rank(), block.range, own);
  }
}

void NativeTransport::sum_slice(Lane& lane, const ReduceJob& job, ElementRange slice,
                                const std::vector<std::byte*>& outputs) {
  NodeSum sum;
  sum.sources.assign(local_buffers_.begin(), local_buffers_.end());
  sum.outputs = outputs;
  sum.range = slice;
  sum.element_bytes = gradients_.element_bytes();
  sum_range(sum, [&](size_t source, ElementRange block) {
    report_non_finite(job, topology().locals()[source], block, sum.sources[source]);
  });
  lane.meter.summed(gradients_.offset_of(slice.size()) * sum.sources.size());
}

void NativeTransport::copy_to_peers(ElementRange slice) {
  const size_t begin = gradients_.offset_of(slice.begin);
  const size_t bytes = gradients_.offset_of(slice.size());
  for (std::byte* buffer : local_buffers_) {
    if (buffer != result_) std::memcpy(buffer + begin, result_ + begin, bytes);
  }
}

// This rank's slice of a job that all ranks of the only node have posted.
void NativeTransport::sum_posted(Lane& lane, uint64_t number) {
  const JobRecord& record = lane.channel->record_of(number, local_rank());
  ReduceJob job;
  job.range = {record.begin, record.end};
  job.step = record.step;
  job.unit = record.unit;
  const ElementRange slice = slice_of(job.range, local_rank(), local_size());
  sum_slice(lane, job, slice, has_shared_result_ ? std::vector<std::byte*>{result_} : local_buffers_);
  const uint32_t flags = lane.channel->posted_flags(number);
  lane.channel->set_reduced(number, flags);
  lane.flags |= flags;
  lane.summed = number;
}

void NativeTransport::post(int lane_index, const ReduceJob& job) {
  check(has_inline_sums(), "post() where sums cross nodes");
  failures().throw_if_set();
  gradients_.check_job(job);
  Lane& lane = lane_at(lane_index);
  if (lane.channel == nullptr) {  // a world of one
    scan_own(job, job.range);
    lane.flags |= job.flags;
    return;
  }
  // Being kJobRing jobs ahead of the slowest rank needs its sums, which may need ours.
  if (lane.channel->posted() - lane.summed >= kJobRing) {
    lane.channel->wait_posted(lane.summed + 1);
    sum_posted(lane, lane.summed + 1);
  }
  lane.channel->post(record_of(job));
}

bool NativeTransport::progress(int lane_index) {
  failures().throw_if_set();
  Lane& lane = lane_at(lane_index);
  if (lane.channel == nullptr) return true;
  const uint64_t posted = lane.channel->posted();
  while (lane.summed < posted && lane.channel->is_posted_by_all(lane.summed + 1)) {
    sum_posted(lane, lane.summed + 1);
  }
  return lane.summed == posted && lane.channel->is_reduced_by_all(posted);
}

uint32_t NativeTransport::wait_posted(int lane_index) {
  Lane& lane = lane_at(lane_index);
  if (lane.channel != nullptr) {
    while (lane.summed < lane.channel->posted()) {
      lane.channel->wait_posted(lane.summed + 1);
      sum_posted(lane, lane.summed + 1);
    }
    lane.channel->wait_reduced(lane.summed);
  }
  failures().throw_if_set();
  return std::exchange(lane.flags, 0u);
}

uint32_t NativeTransport::all_reduce(int lane_index, const ReduceJob& job) {
  if (nodes() > 1) {
    failures().throw_if_set();
    gradients_.check_job(job);
    return reduce_between_nodes(lane_at(lane_index), job);
  }
  post(lane_index, job);
  return wait_posted(lane_index);
}

uint32_t NativeTransport::reduce_between_nodes(Lane& lane, const ReduceJob& job) {
  const bool is_alone = lane.channel == nullptr;  // on its node
  ExchangeJob exchange;
  exchange.what = job;
  exchange.sequence = ++lane.jobs;
  exchange.data = result_;
  exchange.in_memory = lane.in_memory;
  exchange.flags = job.flags;
  uint64_t number = 0;
  // Before others may write results into this buffer.
  if (!is_summing_first()) scan_own(job, job.range);
  if (!is_alone) {
    number = lane.channel->post(record_of(job));
    lane.channel->wait_posted(number);
    exchange.flags = lane.channel->posted_flags(number);
  }
  uint32_t flags = exchange.flags;
  if (!options_.is_hierarchical) {
    exchange.whole = job.range;
    exchange.outputs = {result_};
    for (std::byte* buffer : local_buffers_) {
      if (buffer != result_) exchange.outputs.push_back(buffer);
    }
    flags = lane.exchange->run(exchange);
  } else if (local_rank() < topology().local_slices) {
    exchange.whole = slice_of(job.range, local_rank(), topology().local_slices);
    exchange.outputs = {result_};
    if (is_summing_first()) sum_slice(lane, job, exchange.whole, {result_});
    flags = lane.exchange->run(exchange);
    if (!is_alone && !has_shared_result_) copy_to_peers(exchange.whole);
  }
  if (is_alone) return flags;
  lane.channel->set_reduced(number, flags);
  lane.channel->wait_reduced(number);
  return lane.channel->closed_flags(number, options_.is_hierarchical ? topology().local_slices : local_size());
}

}  // namespace bertft::native
