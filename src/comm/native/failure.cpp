#include "comm/native/failure.h"

#include <sys/eventfd.h>

#include "core/error.h"

namespace bertft::native {

Failure::Failure() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_) throw ResourceError("no file descriptor left for the communicator. Raise ulimit -n");
}

bool Failure::set(const std::string& cause) {
  std::vector<std::function<void()>> wakes;
  {
    const std::lock_guard lock(mutex_);
    if (is_set_.load(std::memory_order_relaxed)) return false;
    cause_ = cause;
    is_set_.store(true, std::memory_order_release);
    wakes = wakes_;
  }
  ::eventfd_write(event_.get(), 1);
  for (const auto& wake : wakes) {  // they take locks of their own
    wake();
  }
  return true;
}

std::string Failure::cause() const {
  const std::lock_guard lock(mutex_);
  return cause_;
}

void Failure::throw_if_set() const {
  if (is_set()) throw CommError(cause());
}

void Failure::on_set(std::function<void()> wake) {
  {
    const std::lock_guard lock(mutex_);
    wakes_.push_back(wake);
    if (!is_set_.load(std::memory_order_relaxed)) return;
  }
  wake();
}

}  // namespace bertft::native
