// The watch of the communicator: a thread that tells slow ranks from stuck ones, and ends the process when a peer is
// lost while the compute thread is busy.
#include <fmt/format.h>

#include <chrono>

#include "comm/rank_communicator.h"
#include "core/log.h"
#include "core/work_meter.h"

namespace bertft {
namespace {

constexpr auto kLook = std::chrono::milliseconds(100);
// The launcher kills the other ranks a second or two after one has died; by then they must have said why they end.
constexpr auto kNotice = std::chrono::milliseconds(800);

std::string text_of(const TransportWait& wait) {
  std::string text =
      wait.lane < 0 ? "a collective" : fmt::format("lane {}, step {}, unit {}", wait.lane, wait.step, wait.unit);
  text += ": " + wait.what;
  if (!wait.ranks.empty()) text += fmt::format(", ranks {}", fmt::join(wait.ranks, ", "));
  return text;
}

}  // namespace

void RankCommunicator::run_watch() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_ && failure_.empty()) {
    watch_changed_.wait_for(lock, kLook);
    if (is_stopping_ || !failure_.empty()) break;
    try {
      watch_peers(lock);
    } catch (const std::exception& failure) {
      lock.unlock();
      transport_->abort(failure.what());
      fail(failure.what());
      lock.lock();
    }
  }
  if (!failure_.empty()) give_up(lock);
}

// Tells the others where this rank is, when somebody waits, and says whom it waits for itself.
void RankCommunicator::watch_peers(std::unique_lock<std::mutex>& lock) {
  const double now = now_s();
  for (const ControlMessage& told : transport_->take_announced()) {
    stall_.heard(told.from, unpacked_status(told.bytes), now);
  }
  if (stall_.has_to_announce(now)) {
    const WorkNow work = work_now();
    transport_->announce(packed({point_, is_waiting_, step_, work.pieces, work.phase}));
  }
  const std::optional<StallWatch::Report> report = stall_.look(now);
  if (!report) return;
  const std::string text = fmt::format("step {}: {} for {:.0f} s, waiting for {}. Here: {}", step_,
                                       report->is_fatal ? "no progress (comm.stall_abort_s)" : "no progress",
                                       report->stands_s, report->late, position());
  lock.unlock();
  if (report->is_fatal) {
    transport_->abort(text);
    fail(text);
  } else if (report->is_speaker) {
    log::warn_of_rank(text);
  } else {
    log::warn(text);
  }
  lock.lock();
}

// After a failure elsewhere: the compute thread ends the process by its exception, unless it is busy for too long.
void RankCommunicator::give_up(std::unique_lock<std::mutex>& lock) {
  if (watch_changed_.wait_for(lock, kNotice, [this] { return is_stopping_; }) || is_own_failure_) return;
  if (settings_.end_process) settings_.end_process(failure_);
}

// Under mutex_.
std::string RankCommunicator::position() const {
  std::string text = fmt::format("{} units to be summed; {}", units_left_, negotiator_->position());
  for (const TransportWait& wait : transport_->waits()) text += "; " + text_of(wait);
  return text;
}

}  // namespace bertft
