// The first cause for which a transport cannot go on, and how it reaches every thread that waits: a descriptor for
// poll(), callbacks that ring futexes.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "comm/native/fd.h"

namespace bertft::native {

class Failure {
 public:
  Failure();  // throws ResourceError when there is no descriptor left

  // Only the first call has an effect; true for it. Wakes everything that waits.
  bool set(const std::string& cause);
  bool is_set() const { return is_set_.load(std::memory_order_acquire); }
  std::string cause() const;
  // Throws CommError with the cause.
  void throw_if_set() const;

  // Readable for ever once there is a cause.
  int event() const { return event_.get(); }
  // Called by set(), on its thread; must outlive this object's users. Register before anything waits.
  void on_set(std::function<void()> wake);

 private:
  std::atomic<bool> is_set_{false};
  mutable std::mutex mutex_;
  std::string cause_;
  std::vector<std::function<void()>> wakes_;
  Fd event_;
};

}  // namespace bertft::native
