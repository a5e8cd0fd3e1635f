// Says that the ranks of a job do not come together while nothing but the launcher joins them. MPI itself waits without
// a word and for ever, and cannot be asked who is late; but a process of this node that is stopped can be seen.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/stall_settings.h"

namespace bertft {

// The children of a process that are stopped (SIGSTOP, a debugger), "rank 2 (process 4711)" each; without a launcher's
// variable "process 4711".
std::vector<std::string> stopped_children(pid_t parent);

class StartWatch {
 public:
  explicit StartWatch(const StallSettings& limits);
  ~StartWatch();

  // For the calls from now on. 0: never.
  void set_limits(const StallSettings& limits);

  // How long a call may take. Where a process of this node is seen stopped, a warning and the end (exit 4) follow after
  // the limits for every kind; without that kLong is left alone, kStart only warned about, and kShort ended, too.
  enum class Kind { kShort, kStart, kLong };

  // While it lives this thread is in a call in which all ranks wait for each other.
  class Call {
   public:
    Call(StartWatch& of, const char* what, Kind kind);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    StartWatch& of_;
  };

 private:
  void run();
  static void look(const std::string& what, Kind kind, bool is_over, double waited_s);

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  StallSettings limits_;
  const char* what_ = nullptr;  // the call, if this process is in one
  Kind kind_ = Kind::kLong;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace bertft
