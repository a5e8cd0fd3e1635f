#include "comm/rank_watch.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "core/log.h"
#include "core/work_meter.h"

namespace bertft {
namespace {

constexpr auto kLook = std::chrono::milliseconds(100);
// The launcher sends the other ranks SIGTERM a second after one has died, and SIGKILL a second later; by then they must
// have said why they end. SIGTERM ends a process that has not come to its first step.
constexpr auto kNotice = std::chrono::milliseconds(800);
constexpr auto kNoticeInSetUp = std::chrono::milliseconds(400);

std::string text_of(const TransportWait& wait) {
  std::string text =
      wait.lane < 0 ? "a collective" : fmt::format("lane {}, step {}, unit {}", wait.lane, wait.step, wait.unit);
  text += ": " + wait.what;
  if (!wait.ranks.empty()) text += fmt::format(", ranks {}", fmt::join(wait.ranks, ", "));
  return text;
}

}  // namespace

RankWatch::Waiting::Waiting(RankWatch& of) : of_(of) {
  const std::lock_guard lock(of_.mutex_);
  of_.stall_.wait_begins(++of_.point_, of_.now_s());
  of_.is_waiting_ = true;
}

RankWatch::Waiting::~Waiting() {
  const std::lock_guard lock(of_.mutex_);
  of_.stall_.wait_ends();
  of_.is_waiting_ = false;
}

RankWatch::RankWatch(const World& world, Transport& transport, WatchSettings settings)
    : world_(world),
      transport_(transport),
      settings_(std::move(settings)),
      stall_(world, settings_.stall),
      thread_([this] { run(); }) {}

RankWatch::~RankWatch() { stop(); }

void RankWatch::step_begins(int64_t step) {
  const std::lock_guard lock(mutex_);
  step_ = step;
}

void RankWatch::set_hooks(Hooks hooks) {
  const std::lock_guard lock(hooks_mutex_);
  hooks_ = std::move(hooks);
}

void RankWatch::failed(const std::string& cause) {
  const std::lock_guard lock(mutex_);
  if (cause_.empty()) cause_ = cause;
  changed_.notify_all();
}

void RankWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RankWatch::run() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_ && cause_.empty()) {
    changed_.wait_for(lock, kLook);
    if (is_stopping_ || !cause_.empty()) break;
    try {
      watch_peers(lock);
    } catch (const std::exception& failure) {
      lock.unlock();
      transport_.abort(failure.what());
      lock.lock();
    }
    if (cause_.empty()) cause_ = transport_.failure();
  }
  if (!cause_.empty()) give_up(lock);
}

// Tells the others where this rank is, when somebody waits, and says whom it waits for itself.
void RankWatch::watch_peers(std::unique_lock<std::mutex>& lock) {
  const double now = now_s();
  for (const ControlMessage& told : transport_.take_announced()) {
    stall_.heard(told.from, unpacked_status(told.bytes), now);
  }
  if (stall_.has_to_announce(now)) {
    const WorkNow work = work_now();
    transport_.announce(packed({point_, is_waiting_, step_, work.pieces, work.phase}));
  }
  const std::optional<StallWatch::Report> report = stall_.look(now);
  if (!report) return;
  const std::string place = step_ < 0 ? "" : fmt::format("step {}: ", step_);
  lock.unlock();
  const std::string text =
      fmt::format("{}no progress{} for {:.0f} s, waiting for {}. Here: {}", place,
                  report->is_fatal ? " (comm.stall_abort_s)" : "", report->stands_s, report->late, position());
  if (report->is_fatal) {
    transport_.abort(text);
  } else if (report->is_speaker) {
    log::warn_of_rank(text);
  } else {
    log::warn(text);
  }
  lock.lock();
}

// The main thread ends the process by its exception, unless it is busy for too long.
void RankWatch::give_up(std::unique_lock<std::mutex>& lock) {
  const std::string cause = cause_;
  const auto notice = step_ < 0 ? kNoticeInSetUp : kNotice;
  lock.unlock();
  {
    const std::lock_guard hooks(hooks_mutex_);
    if (hooks_.has_failed) hooks_.has_failed(cause);
  }
  lock.lock();
  if (changed_.wait_for(lock, notice, [this] { return is_stopping_; })) return;
  if (settings_.end_process) settings_.end_process(cause);
}

std::string RankWatch::position() {
  std::string text = "starting";
  {
    const std::lock_guard lock(hooks_mutex_);
    if (hooks_.position) text = hooks_.position();
  }
  for (const TransportWait& wait : transport_.waits()) text += "; " + text_of(wait);
  return text;
}

}  // namespace bertft
