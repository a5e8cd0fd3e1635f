#include "comm/nccl/launch_thread.h"

#include <chrono>
#include <utility>

#include "core/error.h"

namespace bertft::nccl {
namespace {

// How often a waiting lane asks whether the job has failed, should the launch thread itself be stuck.
constexpr auto kLook = std::chrono::milliseconds(20);

CommunicatorsSettings with(CommunicatorsSettings settings, std::function<void()> throw_if_failed) {
  settings.throw_if_failed = std::move(throw_if_failed);
  return settings;
}

}  // namespace

LaunchThread::LaunchThread(std::shared_ptr<Functions> functions, std::shared_ptr<Transport> control,
                           native::Topology topology, LaunchSettings settings)
    : functions_(std::move(functions)),
      control_(std::move(control)),
      topology_(std::move(topology)),
      settings_(std::move(settings)),
      communicators_(*functions_, topology_, with(settings_.communicators, [this] { throw_if_failed(); })),
      sums_(*functions_, communicators_, topology_, settings_.sums),
      lanes_(static_cast<size_t>(settings_.sums.lanes)) {}

void LaunchThread::start() {
  thread_ = std::thread([self = shared_from_this()] { self->run(); });
}

void LaunchThread::stop() noexcept {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  is_stopping_ = true;
  work_.notify_all();
  const bool has_ended =
      changed_.wait_for(lock, std::chrono::duration<double>(settings_.abort_limit_s), [this] { return has_ended_; });
  lock.unlock();
  if (has_ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

std::string LaunchThread::opened_ids() {
  const auto ids = std::make_shared<std::string>();
  call([this, ids] { *ids = communicators_.opened_ids(); });
  return *ids;
}

void LaunchThread::connect(const std::vector<std::string>& ids_of_rank) {
  call([this, ids_of_rank] { communicators_.connect(ids_of_rank); });
}

void LaunchThread::attach(float* data, int64_t elements, WireMap map) {
  call([this, data, elements, map = std::move(map)] { sums_.attach(data, elements, map); });
}

void LaunchThread::finish() {
  call([this] {
    communicators_.finish();
    if (!sums_.release(settings_.communicators.timeout_s)) throw CommError("CUDA: the streams have not ended");
  });
  const std::lock_guard lock(mutex_);
  is_finished_ = true;
}

void LaunchThread::throw_if_failed() const {
  const std::string cause = control_->failure();
  if (!cause.empty()) throw CommError(cause);
}

// The thread has aborted, or had the time to.
bool LaunchThread::is_given_up(const Timer& noticed) const {
  return has_failed_ || has_ended_ || noticed.seconds() > settings_.abort_limit_s;
}

// Under `lock`. Throws the first cause once the job has failed and nothing uses the gradients any more, or it had the
// time to.
template <typename Done>
void LaunchThread::wait_until(std::unique_lock<std::mutex>& lock, const Done& is_done) {
  std::optional<Timer> noticed;
  while (!is_done()) {
    if (!noticed && (has_failed_ || !control_->failure().empty())) {
      noticed.emplace();
      is_woken_ = true;
      work_.notify_all();
    }
    if (noticed && is_given_up(*noticed)) throw CommError(control_->failure());
    changed_.wait_for(lock, kLook);
  }
}

// Runs `task` on the thread. It must own what it uses: should a call of NCCL never return, this throws before it ends.
void LaunchThread::call(std::function<void()> task) {
  std::unique_lock lock(mutex_);
  if (has_failed_) throw CommError(control_->failure());
  check(!task_, "two callers at once");
  task_ = std::move(task);
  is_task_done_ = false;
  work_.notify_all();
  wait_until(lock, [this] { return is_task_done_; });
}

void LaunchThread::post(int lane, const ReduceJob& job) {
  const std::lock_guard lock(mutex_);
  if (has_failed_) throw CommError(control_->failure());
  check(lane >= 0 && static_cast<size_t>(lane) < lanes_.size(), "a lane that is not there");
  check(job.order >= next_order_ && posted_.count(job.order) == 0, "two sums with one number");
  posted_[job.order] = {lane, job};
  LaneState& state = lanes_[static_cast<size_t>(lane)];
  ++state.posted;
  state.open.push_back(job);
  work_.notify_all();
}

bool LaunchThread::is_done(int lane) {
  const std::lock_guard lock(mutex_);
  if (has_failed_) throw CommError(control_->failure());
  const LaneState& state = lanes_.at(static_cast<size_t>(lane));
  return state.done == state.posted;
}

uint32_t LaunchThread::wait(int lane) {
  std::unique_lock lock(mutex_);
  LaneState& state = lanes_.at(static_cast<size_t>(lane));
  wait_until(lock, [&] { return state.done == state.posted; });
  return std::exchange(state.flags, 0u);
}

void LaunchThread::wake() {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  work_.notify_all();
}

std::vector<TransportWait> LaunchThread::waits() const {
  const std::lock_guard lock(mutex_);
  std::vector<TransportWait> result;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].open.empty()) continue;
    const ReduceJob& job = lanes_[lane].open.front();
    result.push_back({static_cast<int>(lane), job.order >= next_order_ ? "its turn" : "NCCL", job.step, job.unit, {}});
  }
  return result;
}

// Under mutex_.
bool LaunchThread::has_work() const {
  return is_stopping_ || is_woken_ || task_ || (!posted_.empty() && posted_.begin()->first == next_order_);
}

void LaunchThread::run() noexcept {
  try {
    functions_->set_device(settings_.device);
    while (true) {
      {
        std::unique_lock lock(mutex_);
        if (in_flight_.empty()) {
          work_.wait(lock, [this] { return has_work(); });
        } else {
          work_.wait_for(lock, backoff_.next(), [this] { return has_work(); });
        }
        if (is_stopping_) break;
      }
      run_once();
    }
    const std::lock_guard lock(mutex_);
    if (!is_finished_) throw CommError("the nccl transport was given up");
  } catch (const std::exception& failure) {
    fail(failure.what());
  }
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

void LaunchThread::run_once() {
  std::function<void()> task;
  std::optional<Posted> next;
  bool is_woken = false;
  {
    const std::lock_guard lock(mutex_);
    task = task_;
    is_woken = std::exchange(is_woken_, false);
    if (!task && !posted_.empty() && posted_.begin()->first == next_order_) {
      next = posted_.begin()->second;
      posted_.erase(posted_.begin());
      ++next_order_;
    }
  }
  if (is_woken || !in_flight_.empty()) throw_if_failed();
  if (task) {
    task();
    const std::lock_guard lock(mutex_);
    task_ = nullptr;
    is_task_done_ = true;
    changed_.notify_all();
  }
  if (next) launch(*next);
  if (!in_flight_.empty()) poll();
}

void LaunchThread::launch(const Posted& next) {
  in_flight_.push_back({next.lane, next.job, sums_.launch(next.lane, next.job)});
  backoff_.reset();
}

void LaunchThread::poll() {
  for (auto one = in_flight_.begin(); one != in_flight_.end();) {
    if (functions_->is_complete(one->done)) {
      complete(*one);
      one = in_flight_.erase(one);
    } else {
      ++one;
    }
  }
  // An aborted kernel completes its events as well, so errors are looked for after, and before anybody is told.
  communicators_.check_errors();
}

void LaunchThread::complete(InFlight& one) {
  // A sum that an error has ended completes its event, too.
  communicators_.check_errors();
  const uint32_t word = one.job.is_last ? sums_.finish_step(one.job.step) : 0u;
  sums_.recycle(one.done);
  backoff_.reset();
  const std::lock_guard lock(mutex_);
  LaneState& state = lanes_[static_cast<size_t>(one.lane)];
  ++state.done;
  state.flags |= word;
  state.open.pop_front();
  changed_.notify_all();
}

// The peers are told first: their sums cannot end any more.
void LaunchThread::fail(const std::string& cause) noexcept {
  if (control_->failure().empty()) control_->abort(cause);
  communicators_.abort_all();
  try {
    for (const InFlight& one : in_flight_) sums_.recycle(one.done);
    in_flight_.clear();
    sums_.release(settings_.abort_limit_s);
  } catch (...) {  // a device that cannot free memory either; the process is about to end
  }
  const std::lock_guard lock(mutex_);
  has_failed_ = true;
  changed_.notify_all();
}

}  // namespace bertft::nccl
