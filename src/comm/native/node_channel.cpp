#include "comm/native/node_channel.h"

#include <fmt/format.h>

#include "core/error.h"

namespace bertft::native {

NodeChannel::NodeChannel(const Context& context, int channel, int lane, WaitRecord& record)
    : context_(context), channel_(channel), lane_(lane), record_(record) {}

void NodeChannel::ring_peers() {
  for (int local = 0; local < context_.topology.local_size(); ++local) {
    if (local != context_.topology.local_rank) ring(seat(local).bell);
  }
}

uint64_t NodeChannel::post(const JobRecord& record) {
  const uint64_t number = posted_ + 1;
  // The record that is overwritten must have been read by all.
  if (number > kJobRing) wait_reduced(number - kJobRing);
  own().ring[number % kJobRing] = record;
  posted_ = number;
  own().posted.store(number, std::memory_order_release);
  ring_peers();
  return number;
}

const JobRecord& NodeChannel::record_of(uint64_t number, int local_rank) const {
  return seat(local_rank).ring[number % kJobRing];
}

void NodeChannel::compare(uint64_t number) const {
  const JobRecord& mine = record_of(number, context_.topology.local_rank);
  for (int local = 0; local < context_.topology.local_size(); ++local) {
    const JobRecord& theirs = record_of(number, local);
    if (theirs.begin == mine.begin && theirs.end == mine.end && theirs.step == mine.step && theirs.wire == mine.wire) {
      continue;
    }
    const std::string peer = context_.topology.name_of(context_.topology.locals()[static_cast<size_t>(local)]);
    if (lane_ < 0) {
      throw CommError(
          fmt::format("{} is in another collective operation than this rank. The ranks do different things: do "
                      "all run the same program with the same configuration?",
                      peer));
    }
    throw CommError(fmt::format(
        "lane {}: {} sums elements {}..{} of step {} (unit {}), this rank {}..{} of step {} (unit {}). The ranks "
        "disagree "
        "about the order of units: a fault of this program, please report it",
        lane_, peer, theirs.begin, theirs.end, theirs.step, theirs.unit, mine.begin, mine.end, mine.step, mine.unit));
  }
}

std::vector<int> NodeChannel::ranks_behind(const std::atomic<uint64_t> Seat::*counter, uint64_t number) const {
  std::vector<int> ranks;
  for (int local = 0; local < context_.topology.local_size(); ++local) {
    if ((seat(local).*counter).load(std::memory_order_acquire) < number) {
      ranks.push_back(context_.topology.locals()[static_cast<size_t>(local)]);
    }
  }
  return ranks;
}

void NodeChannel::wait(const std::atomic<uint64_t> Seat::*counter, uint64_t number, const char* what) {
  const auto is_done = [&] {
    context_.failure.throw_if_set();
    for (int local = 0; local < context_.topology.local_size(); ++local) {
      if ((seat(local).*counter).load(std::memory_order_acquire) < number) return false;
    }
    return true;
  };
  const auto describe = [&] {
    const JobRecord& mine = record_of(number, context_.topology.local_rank);
    return TransportWait{lane_, what, mine.step, mine.unit, ranks_behind(counter, number)};
  };
  bool has_record = false;
  const auto announce = [&] {
    record_.set(describe());
    has_record = true;
  };
  const bool is_in_time = wait_at(own().bell, deadline_in(context_.wait_limit_s), is_done, announce);
  if (has_record) record_.clear();
  if (!is_in_time) throw CommError(late_text(describe(), context_.wait_limit_s, context_.topology));
}

bool NodeChannel::is_posted_by_all(uint64_t number) {
  for (int local = 0; local < context_.topology.local_size(); ++local) {
    if (seat(local).posted.load(std::memory_order_acquire) < number) return false;
  }
  if (compared_ < number) compare(number);
  compared_ = number;
  return true;
}

void NodeChannel::wait_posted(uint64_t number) {
  wait(&Seat::posted, number, "the contribution");
  check(is_posted_by_all(number), "a job that was posted is not any more");
}

uint32_t NodeChannel::posted_flags(uint64_t number) const {
  uint32_t flags = 0;
  for (int local = 0; local < context_.topology.local_size(); ++local) {
    flags |= record_of(number, local).flags;
  }
  return flags;
}

void NodeChannel::set_reduced(uint64_t number, uint32_t closed_flags) {
  own().ring[number % kJobRing].closed_flags = closed_flags;
  own().reduced.store(number, std::memory_order_release);
  ring_peers();
}

bool NodeChannel::is_reduced_by_all(uint64_t number) const { return ranks_behind(&Seat::reduced, number).empty(); }

void NodeChannel::wait_reduced(uint64_t number) { wait(&Seat::reduced, number, "its part of the sum"); }

uint32_t NodeChannel::closed_flags(uint64_t number, int slices) const {
  uint32_t flags = 0;
  for (int local = 0; local < slices; ++local) {
    flags |= record_of(number, local).closed_flags;
  }
  return flags;
}

}  // namespace bertft::native
