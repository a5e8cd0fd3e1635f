#include "comm/rank_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "comm/word_bell.h"
#include "core/error.h"
#include "core/log.h"

namespace bertft {
namespace {

std::string packed(const Agreement& agreement) {
  std::string bytes(sizeof agreement.flags + 2 * sizeof(double), '\0');
  std::memcpy(bytes.data(), &agreement.flags, sizeof agreement.flags);
  std::memcpy(bytes.data() + sizeof agreement.flags, &agreement.min, sizeof(double));
  std::memcpy(bytes.data() + sizeof agreement.flags + sizeof(double), &agreement.max, sizeof(double));
  return bytes;
}

Agreement unpacked(const std::string& bytes) {
  Agreement agreement;
  if (bytes.size() != packed(agreement).size()) throw CommError("a rank sent an agreement of another form");
  std::memcpy(&agreement.flags, bytes.data(), sizeof agreement.flags);
  std::memcpy(&agreement.min, bytes.data() + sizeof agreement.flags, sizeof(double));
  std::memcpy(&agreement.max, bytes.data() + sizeof agreement.flags + sizeof(double), sizeof(double));
  return agreement;
}

}  // namespace

RankCommunicator::RankCommunicator(std::shared_ptr<RankLink> link, std::unique_ptr<Negotiator> negotiator,
                                   const Layout& layout, const GradientBuffer& gradients,
                                   const RankCommunicatorSettings& settings)
    : link_(std::move(link)),
      world_(link_->world()),
      transport_(&link_->transport()),
      negotiator_(std::move(negotiator)),
      layout_(layout),
      settings_(settings),
      fusion_(layout, gradients),
      rows_(layout, gradients, settings.sparse_rows),
      non_finite_(link_->non_finite()),
      gradients_(gradients.data()) {
  check(settings_.sparse_rows == SparseRule::kNever || !settings_.fuses_by_copy,
        "rows of tables do not travel through the fusion area");
  non_finite_->set_origin([this](int64_t index) { return rows_.origin_of(fusion_.origin_of(index)); });
  {
    const RankWatch::Waiting here(link_->watch());
    results_ = transport_->attach(gradients, WireMap(layout));
  }
  sums_ = settings_.fuses_by_copy ? gradients.data() : results_;
  check(!settings_.makes_batches || (transport_->has_batches() && !settings_.fuses_by_copy),
        "batches of sums in place");
  check(settings_.sums != SumThread::kCompute || transport_->has_inline_sums(), "sums in between within one node");
  const bool has_lanes = settings_.sums == SumThread::kLane;
  lane_queues_.resize(has_lanes ? static_cast<size_t>(transport_->lanes()) : 1);
  link_->watch().set_hooks({[this] { return position(); }, [this](const std::string& cause) { fail(cause); }});
  control_ = std::thread([this] { run_control(); });
  if (negotiator_->bell() != nullptr && !is_polled_inline()) bell_ = std::thread([this] { run_bell(); });
  if (!has_lanes) return;
  for (int lane = 0; lane < transport_->lanes(); ++lane) lanes_.emplace_back([this, lane] { run_lane(lane); });
}

RankCommunicator::~RankCommunicator() {
  if (!is_closed_) abort("the communicator was given up");
  stop_threads();
}

std::string RankCommunicator::description() const {
  const char* mode = settings_.sums == SumThread::kControl ? "horovod" : "aiacc";
  return fmt::format("{} ranks on {} node{}, comm {}, {}, wire {}{}, {}", world_.size, world_.nodes,
                     world_.nodes == 1 ? "" : "s", mode, transport_->description(), wire_type_name(settings_.wire),
                     settings_.sums == SumThread::kCompute ? ", sums between computations" : "", rows_.description());
}

void RankCommunicator::step_begin(int64_t step) {
  const std::lock_guard lock(mutex_);
  require_intact();
  check(units_left_ == 0, "step_begin() before the step before was finished");
  link_->watch().step_begins(step);
  step_ = step;
  units_left_ = static_cast<int>(layout_.units.size());
  units_to_hand_out_ = units_left_;
  next_lane_ = 0;
  settings_.observer->step_begins(step, now_s());
  negotiator_->step_begin(step);
  flush();
}

void RankCommunicator::mark_ready(int unit) {
  rows_.before_leaving(unit);
  {
    const std::lock_guard lock(mutex_);
    require_intact();
    settings_.observer->unit_is_ready(unit, now_s());
    negotiator_->mark_ready(unit);
    flush();
  }
  if (settings_.sums != SumThread::kCompute) return;
  const Timer summed;
  make_sums_inline();
  const std::lock_guard lock(mutex_);
  counters_.exposed_s += summed.seconds();
}

void RankCommunicator::finish() {
  const Timer waited;
  const RankWatch::Waiting here(link_->watch());
  settings_.observer->wait_begins(now_s());
  if (settings_.sums == SumThread::kCompute) finish_inline();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !failure_.empty() || (units_left_ == 0 && negotiator_->is_step_done()); });
    require_intact();
    negotiator_->step_end();
  }
  restore_rows();
  const std::lock_guard lock(mutex_);
  settings_.observer->step_ends(now_s());
  counters_.exposed_s += waited.seconds();
}

// A result that several ranks read is written by the first of them; the next sums come after all have read it.
void RankCommunicator::restore_rows() {
  if (rows_.is_compact()) {
    if (results_ == gradients_) {
      rows_.restore();
    } else {
      if (transport_->local_rank() == 0) rows_.restore_in(static_cast<std::byte*>(const_cast<void*>(results_)));
      rows_.clear_block();
      transport_->node_barrier();
    }
  }
  rows_.end_step();
}

// Sends what the controller wants sent and hands agreed rounds on. Under mutex_, so that both keep their order.
void RankCommunicator::flush() {
  for (const ControlSend& message : negotiator_->take_messages()) transport_->send(message.to, message.bytes);
  for (uint32_t* bell : negotiator_->take_bells()) ring_bell(bell);
  for (AgreedRound& round : negotiator_->take_rounds()) {
    ++counters_.rounds;
    for (std::vector<int>& units : round.groups) {
      if (sums_on_way_++ == 0) on_way_since_s_ = now_s();
      settings_.observer->units_are_agreed(units, now_s());
      const auto lane = static_cast<size_t>(next_lane_++) % lane_queues_.size();
      const int64_t order = next_order_;
      next_order_ += settings_.fuses_by_copy ? 1 : static_cast<int64_t>(units.size());
      units_to_hand_out_ -= static_cast<int>(units.size());
      lane_queues_[lane].push_back({round.step, std::move(units), order, units_to_hand_out_ == 0});
    }
  }
  for (const std::string& report : negotiator_->take_reports()) log::warn(report);
  work_.notify_all();
  changed_.notify_all();
}

void RankCommunicator::run_control() {
  try {
    while (true) {
      std::optional<double> tick_s;
      {
        const std::lock_guard lock(mutex_);
        if (is_stopping_ || !failure_.empty()) return;
        tick_s = negotiator_->next_tick_s();
      }
      const double timeout_s = tick_s ? std::max(*tick_s - now_s(), 0.0) : -1.0;
      const std::optional<ControlMessage> message = transport_->receive(timeout_s);
      {
        const std::lock_guard lock(mutex_);
        if (message && !message->bytes.empty()) negotiator_->receive(message->from, message->bytes, now_s());
        const std::optional<double> due_s = negotiator_->next_tick_s();
        if (due_s && *due_s <= now_s()) negotiator_->tick(now_s());
        flush();
      }
      if (settings_.sums == SumThread::kControl) make_pending_sums();
    }
  } catch (const std::exception& failure) {
    fail(failure.what());
  }
}

// Looks at the words of the node whenever another of its ranks has changed them.
void RankCommunicator::run_bell() {
  try {
    while (true) {
      const uint32_t seen = read_bell(negotiator_->bell());
      {
        const std::lock_guard lock(mutex_);
        if (is_stopping_ || !failure_.empty()) return;
        negotiator_->poll();
        flush();
      }
      sleep_at_bell(negotiator_->bell(), seen);
    }
  } catch (const std::exception& failure) {
    fail(failure.what());
  }
}

void RankCommunicator::fail(const std::string& cause) {
  const std::string first = transport_->failure();
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = first.empty() ? cause : first;
  work_.notify_all();
  changed_.notify_all();
  link_->watch().failed(failure_);
  if (negotiator_->bell() != nullptr) ring_bell(negotiator_->bell());
}

void RankCommunicator::require_intact() const {
  if (!failure_.empty()) throw CommError(failure_);
}

void RankCommunicator::broadcast(void* data, size_t bytes, int root) {
  const RankWatch::Waiting here(link_->watch());
  transport_->broadcast(data, bytes, root);
}

std::vector<std::string> RankCommunicator::all_gather(const std::string& mine) {
  const RankWatch::Waiting here(link_->watch());
  return transport_->all_gather(mine);
}

void RankCommunicator::barrier() {
  const RankWatch::Waiting here(link_->watch());
  transport_->barrier();
}

Agreement RankCommunicator::agree(const Agreement& mine) {
  Agreement all = mine;
  for (const std::string& bytes : all_gather(packed(mine))) {
    const Agreement theirs = unpacked(bytes);
    all.flags |= theirs.flags;
    all.min = std::min(all.min, theirs.min);
    all.max = std::max(all.max, theirs.max);
  }
  return all;
}

void RankCommunicator::abort(const std::string& cause) noexcept {
  link_->abort(cause);
  try {
    fail(cause);
  } catch (...) {  // the process ends anyway
  }
}

void RankCommunicator::close() {
  barrier();
  {
    const RankWatch::Waiting here(link_->watch());
    std::unique_lock lock(mutex_);
    negotiator_->request_shutdown();
    changed_.wait(lock, [this] { return negotiator_->is_shut_down() || !failure_.empty(); });
    require_intact();
    is_stopping_ = true;
  }
  transport_->send(world_.rank, "");  // wakes the control thread
  stop_threads();
  link_->close();
  settings_.observer->close();
  is_closed_ = true;
}

void RankCommunicator::stop_threads() {
  link_->watch().set_hooks({});
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  work_.notify_all();
  if (negotiator_->bell() != nullptr) ring_bell(negotiator_->bell());
  if (control_.joinable()) control_.join();
  if (bell_.joinable()) bell_.join();
  for (std::thread& lane : lanes_) {
    if (lane.joinable()) lane.join();
  }
}

std::string RankCommunicator::position() const {
  const std::lock_guard lock(mutex_);
  return fmt::format("{} units to be summed; {}", units_left_, negotiator_->position());
}

Counters RankCommunicator::counters() const {
  const TransportCounters transport = transport_->counters();
  const std::lock_guard lock(mutex_);
  Counters counters = counters_;
  const auto add = [&](const ChannelCounters& channel) {
    counters.messages += channel.messages_sent;
    counters.bytes += channel.payload_sent + channel.header_sent;
  };
  for (const ChannelCounters& lane : transport.lanes) {
    add(lane);
    counters.sum_messages += lane.messages_sent;
    counters.payload_bytes += lane.payload_sent;
  }
  add(transport.collectives);
  add(transport.control);
  counters.copies = fusion_.copied_bytes();
  return counters;
}

}  // namespace bertft
