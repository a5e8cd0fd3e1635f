// The watch of a rank: a thread that tells slow ranks from stuck ones, and ends the process when a peer is lost while
// the main thread is busy or inside a call that nothing ends. It lives from the moment when the ranks are connected
// until everybody has said good-bye.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "comm/stall_watch.h"
#include "comm/transport.h"
#include "comm/world.h"
#include "core/timer.h"

namespace bertft {

struct WatchSettings {
  StallSettings stall = {};
  // Called with the cause, on the watch's thread, when a peer is lost and the main thread has not taken notice for a
  // while: the launcher is about to kill this process. Not expected to return.
  std::function<void(const std::string& cause)> end_process = {};
};

class RankWatch {
 public:
  // References must outlive this object.
  RankWatch(const World& world, Transport& transport, WatchSettings settings);
  ~RankWatch();  // as stop()

  // While it lives the main thread waits for other ranks: a place that all ranks come to in the same order.
  class Waiting {
   public:
    explicit Waiting(RankWatch& of);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    RankWatch& of_;
  };

  // For reports; before the first one the ranks set up.
  void step_begins(int64_t step);

  // What a communicator adds, until it takes it back by an empty one; called on the watch's thread.
  struct Hooks {
    std::function<std::string()> position;                     // of this rank, for reports
    std::function<void(const std::string& cause)> has_failed;  // the job ends
  };
  void set_hooks(Hooks hooks);

  // Something failed, so the process ends soon: by the main thread, which calls stop(), or by end_process.
  void failed(const std::string& cause);
  // The main thread has taken notice, or everybody has said good-bye.
  void stop();

 private:
  void run();
  void watch_peers(std::unique_lock<std::mutex>& lock);
  void give_up(std::unique_lock<std::mutex>& lock);
  std::string position();
  double now_s() const { return clock_.seconds(); }

  const World& world_;
  Transport& transport_;
  const WatchSettings settings_;
  const Timer clock_;

  std::mutex hooks_mutex_;  // never taken while mutex_ is held
  Hooks hooks_;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  StallWatch stall_;
  int64_t point_ = 0;  // how often this rank began to wait for others
  bool is_waiting_ = false;
  int64_t step_ = -1;
  bool is_stopping_ = false;
  std::string cause_;  // "": nothing has failed

  std::thread thread_;
};

}  // namespace bertft
