#include "comm/local_communicator.h"

#include <algorithm>

#include "core/error.h"
#include "core/log.h"

namespace bertft {

LocalCommunicator::LocalCommunicator(const Layout& layout, const void* gradients)
    : gradients_(gradients), is_ready_(layout.units.size(), 0) {}

void LocalCommunicator::step_begin(int64_t) {
  check(!is_in_step_, "step_begin() inside a step");
  std::fill(is_ready_.begin(), is_ready_.end(), char{0});
  is_in_step_ = true;
}

void LocalCommunicator::mark_ready(int unit) {
  check(is_in_step_, "mark_ready() outside a step");
  check(unit >= 0 && static_cast<size_t>(unit) < is_ready_.size(), "mark_ready() of a unit that is not in the layout");
  char& flag = is_ready_[static_cast<size_t>(unit)];
  check(flag == 0, "a unit was marked ready twice in one step");
  flag = 1;
}

void LocalCommunicator::finish() {
  check(is_in_step_, "finish() outside a step");
  check(std::count(is_ready_.begin(), is_ready_.end(), char{0}) == 0, "finish() with units that were never ready");
  is_in_step_ = false;
}

void LocalCommunicator::broadcast(void*, size_t, int root) {
  check(root == 0, "broadcast from a rank that is not there");
}

void LocalCommunicator::abort(const std::string& cause) noexcept {
  try {
    log::error("aborting: " + cause);
  } catch (...) {  // nothing more can be said
  }
}

}  // namespace bertft
