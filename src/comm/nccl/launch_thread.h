// The one thread that calls NCCL and CUDA. Lanes hand it their jobs; it launches them in the order that their numbers
// give, the same on every rank, sees by events when they are done, looks for asynchronous errors meanwhile, and aborts
// the communicators when anything fails, here or on a peer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/nccl/backoff.h"
#include "comm/nccl/communicators.h"
#include "comm/nccl/nccl_functions.h"
#include "comm/nccl/sums.h"
#include "comm/transport.h"
#include "core/timer.h"

namespace bertft::nccl {

struct LaunchSettings {
  int device = 0;
  double abort_limit_s = 5.0;           // how long a failed wait waits for the communicators' end
  CommunicatorsSettings communicators;  // throw_if_failed is set here
  SumsSettings sums;
};

// Owned by several: should a call of NCCL never return, the thread keeps what it uses, and the process goes on to end.
class LaunchThread : public std::enable_shared_from_this<LaunchThread> {
 public:
  // `control`: tells peers of a failure and knows of theirs; its failure() is the first cause.
  LaunchThread(std::shared_ptr<Functions> functions, std::shared_ptr<Transport> control, native::Topology topology,
               LaunchSettings settings);
  void start();
  // Ends the thread and gives everything back; waits a bounded time. Without finish() before: aborts.
  void stop() noexcept;

  // All of these throw CommError with the first cause once the job has failed.
  std::string opened_ids();
  void connect(const std::vector<std::string>& ids_of_rank);
  void attach(float* data, int64_t elements, WireMap map);
  void finish();

  void post(int lane, const ReduceJob& job);
  // True when nothing that was posted on the lane is open.
  bool is_done(int lane);
  // Until then; the OR of all flags since the last call.
  uint32_t wait(int lane);

  // Something failed elsewhere in this process: have a look.
  void wake();
  std::vector<TransportWait> waits() const;
  const Sums& sums() const { return sums_; }

 private:
  struct Posted {
    int lane = 0;
    ReduceJob job;
  };
  struct InFlight {
    int lane = 0;
    ReduceJob job;
    Event done = nullptr;
  };
  // Of a lane, for its waiting side.
  struct LaneState {
    int64_t posted = 0;
    int64_t done = 0;
    uint32_t flags = 0;  // of those done since the last wait()
    std::deque<ReduceJob> open;
  };

  void run() noexcept;
  void run_once();
  bool has_work() const;
  void call(std::function<void()> task);
  void launch(const Posted& next);
  void poll();
  void complete(InFlight& one);
  void throw_if_failed() const;
  void fail(const std::string& cause) noexcept;
  bool is_given_up(const Timer& noticed) const;
  template <typename Done>
  void wait_until(std::unique_lock<std::mutex>& lock, const Done& is_done);

  const std::shared_ptr<Functions> functions_;
  const std::shared_ptr<Transport> control_;
  const native::Topology topology_;
  const LaunchSettings settings_;
  Communicators communicators_;  // of the thread, like the two behind it
  Sums sums_;
  std::vector<InFlight> in_flight_;
  Backoff backoff_;

  mutable std::mutex mutex_;
  std::condition_variable work_;     // for the thread
  std::condition_variable changed_;  // for those who wait
  std::function<void()> task_;
  bool is_task_done_ = false;
  std::map<int64_t, Posted> posted_;  // by order
  int64_t next_order_ = 0;
  std::vector<LaneState> lanes_;
  bool is_woken_ = false;
  bool is_stopping_ = false;
  bool is_finished_ = false;  // finish() went through
  bool has_failed_ = false;   // and the communicators are aborted
  bool has_ended_ = false;    // the thread
  std::thread thread_;
};

}  // namespace bertft::nccl
