// owner.json keeps two jobs out of one run folder, on one machine or on several that share it. It says who writes
// there; a thread of its own refreshes it, so that a job that died is told from one that is slow.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace bertft {

struct OwnerSettings {
  bool takes_over = false;  // --take-over: replace an owner that may still be alive
  double refresh_every_s = 10.0;
  double stale_after_s = 60.0;  // without a refresh
};

class RunOwner {
 public:
  // Takes the folder, which must exist. Throws ConfigError when another job owns it: naming host, process, and when it
  // was last heard of. An owner is gone, and is replaced with a warning, when its process is gone from this host, when
  // this host was restarted since, or when it was not refreshed for stale_after_s by the clock of the file server.
  RunOwner(const std::string& folder, const OwnerSettings& settings);
  // Gives the folder free.
  ~RunOwner();
  RunOwner(const RunOwner&) = delete;
  RunOwner& operator=(const RunOwner&) = delete;

  // Throws ResourceError when another job took the folder over: nothing may be written there any more. Costs nothing;
  // learns of it at the next refresh.
  void require_owned() const;
  // The same, looking at the file now: before anything that counts is written. Takes a while only to learn the name of
  // who took it over.
  void confirm();

 private:
  void take(const OwnerSettings& settings);
  void refresh_until_stopped(double every_s);
  void refresh();

  std::string path_;
  std::string token_;  // tells this job from every other
  std::atomic<bool> is_lost_ = false;
  std::mutex mutex_;
  std::condition_variable stop_changed_;
  bool is_stopping_ = false;
  std::thread refresher_;
};

}  // namespace bertft
