// How the communicator makes sums: on a thread for each lane, on the control thread as Horovod does, or on the compute
// thread in between, when the ranks of a node fill its cores and another thread would only take its turn.
#include <utility>

#include "comm/rank_communicator.h"
#include "comm/word_bell.h"
#include "core/error.h"

namespace bertft {

// Under mutex_.
std::optional<RankCommunicator::Sum> RankCommunicator::next_sum(size_t lane) {
  std::deque<Sum>& queue = lane_queues_[lane];
  if (queue.empty()) return std::nullopt;
  Sum sum = std::move(queue.front());
  queue.pop_front();
  return sum;
}

void RankCommunicator::run_lane(int lane) {
  const auto queue = static_cast<size_t>(lane);
  try {
    while (true) {
      std::vector<Sum> sums;
      {
        std::unique_lock lock(mutex_);
        work_.wait(lock, [&] { return is_stopping_ || !failure_.empty() || !lane_queues_[queue].empty(); });
        if (is_stopping_ || !failure_.empty()) return;
        do {
          sums.push_back(*next_sum(queue));
        } while (settings_.makes_batches && !lane_queues_[queue].empty());
      }
      if (settings_.makes_batches) {
        make_batch(lane, sums);
      } else {
        make_sum(lane, sums.front());
      }
    }
  } catch (const std::exception& failure) {
    fail(failure.what());
  }
}

void RankCommunicator::make_pending_sums() {
  while (true) {
    std::optional<Sum> sum;
    {
      const std::lock_guard lock(mutex_);
      sum = next_sum(0);
    }
    if (!sum) return;
    make_sum(0, *sum);
  }
}

void RankCommunicator::make_sum(int lane, const Sum& sum) {
  const uint32_t flags = flag_word();
  uint32_t word = 0;
  const auto enter = [&](SumPhase phase) { settings_.observer->sum_enters(sum.units, phase, now_s()); };
  settings_.observer->sum_begins(lane, sum.units, now_s());
  if (sum.units.size() > 1 && settings_.fuses_by_copy) {
    enter(SumPhase::kCopyIn);
    const ElementRange range = fusion_.pack(sum.units);
    enter(SumPhase::kReduce);
    word = transport_->all_reduce(lane, job_of(range, sum, 0, flags));
    enter(SumPhase::kCopyOut);
    fusion_.unpack(sum.units, results_);
  } else {
    for (size_t place = 0; place < sum.units.size(); ++place) {
      const int unit = sum.units[place];
      enter(SumPhase::kReduce);
      word |= transport_->all_reduce(lane, job_of(range_of(unit), sum, place, flags));
      if (sums_ == results_) continue;
      enter(SumPhase::kCopyOut);
      fusion_.copy_back(unit, results_);
    }
  }
  settings_.observer->sum_ends(lane, sum.units, now_s());
  const std::lock_guard lock(mutex_);
  sum_is_done(sum.units, word);
  if (--sums_on_way_ == 0) counters_.total_s += now_s() - on_way_since_s_;
  flush();
}

// Ranks may cut what is agreed into other batches: the order of jobs is the same.
void RankCommunicator::make_batch(int lane, const std::vector<Sum>& sums) {
  for (const Sum& sum : sums) {
    const uint32_t flags = flag_word();
    for (size_t place = 0; place < sum.units.size(); ++place) {
      transport_->post(lane, job_of(range_of(sum.units[place]), sum, place, flags));
    }
  }
  const uint32_t word = transport_->wait_posted(lane);
  const std::lock_guard lock(mutex_);
  for (const Sum& sum : sums) sum_is_done(sum.units, word);
  sums_on_way_ -= static_cast<int>(sums.size());
  if (sums_on_way_ == 0) counters_.total_s += now_s() - on_way_since_s_;
  flush();
}

// On the compute thread: hands over what may be summed, and sums what all ranks have handed over. Never waits for them.
void RankCommunicator::make_sums_inline() {
  try {
    while (true) {
      std::optional<Sum> sum;
      {
        const std::lock_guard lock(mutex_);
        sum = next_sum(0);
      }
      if (!sum) break;
      const uint32_t flags = flag_word();
      for (size_t place = 0; place < sum->units.size(); ++place) {
        transport_->post(0, job_of(range_of(sum->units[place]), *sum, place, flags));
      }
      posted_units_.insert(posted_units_.end(), sum->units.begin(), sum->units.end());
    }
    transport_->progress(0);
  } catch (const std::exception& failure) {
    fail(failure.what());
  }
  const std::lock_guard lock(mutex_);
  require_intact();
}

// Until every unit of the step is summed here and on all ranks.
void RankCommunicator::finish_inline() {
  uint32_t word = 0;
  while (posted_units_.size() < layout_.units.size()) {
    wait_for_agreed();
    make_sums_inline();
  }
  try {
    word = transport_->wait_posted(0);
  } catch (const std::exception& failure) {
    fail(failure.what());
  }
  const std::lock_guard lock(mutex_);
  require_intact();
  sum_is_done(std::exchange(posted_units_, {}), word);
  sums_on_way_ = 0;
  counters_.total_s += now_s() - on_way_since_s_;
  flush();
}

// Until there is something to sum.
void RankCommunicator::wait_for_agreed() {
  while (is_polled_inline()) {
    const uint32_t seen = read_bell(negotiator_->bell());
    {
      const std::lock_guard lock(mutex_);
      require_intact();
      negotiator_->poll();
      flush();
      if (!lane_queues_.front().empty()) return;
    }
    sleep_at_bell(negotiator_->bell(), seen);
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !failure_.empty() || !lane_queues_.front().empty(); });
  require_intact();
}

// Under mutex_.
void RankCommunicator::sum_is_done(const std::vector<int>& units, uint32_t word) {
  for (const int unit : units) negotiator_->unit_done(unit, word);
  units_left_ -= static_cast<int>(units.size());
}

uint32_t RankCommunicator::flag_word() const {
  const std::lock_guard lock(mutex_);
  return negotiator_->flag_word();
}

// The job at `place` of a sum's.
ReduceJob RankCommunicator::job_of(ElementRange range, const Sum& sum, size_t place, uint32_t flags) const {
  return {.range = range,
          .wire = settings_.wire,
          .scale_exponent = {},
          .step = sum.step,
          .unit = sum.units[place],
          .flags = flags,
          .order = sum.order + static_cast<int64_t>(place),
          .is_last = sum.is_last && (settings_.fuses_by_copy || place + 1 == sum.units.size())};
}

}  // namespace bertft
