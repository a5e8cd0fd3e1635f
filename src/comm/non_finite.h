// What is known of values that are no numbers among the gradients of a step: whose they were, before they were summed.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace bertft {

// Found in one rank's contribution.
struct NonFinite {
  int rank = 0;       // whose contribution it is
  int64_t index = 0;  // of the first one, in the flat buffer
  int64_t step = 0;
  int unit = -1;
  int64_t nan_count = 0;  // in the piece that was looked at
  int64_t inf_count = 0;
  double min = 0.0;  // of the finite values of that piece; 0 when it has none
  double max = 0.0;
};

// Collects them; for any thread.
class NonFiniteLog {
 public:
  // Turns an index of what is summed into one of the gradients; set before the first sum.
  void set_origin(std::function<int64_t(int64_t)> origin) { origin_ = std::move(origin); }
  void add(NonFinite found) {
    if (origin_) found.index = origin_(found.index);
    const std::lock_guard lock(mutex_);
    found_.push_back(found);
  }
  // Everything since the last call.
  std::vector<NonFinite> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(found_, {});
  }

 private:
  std::function<int64_t(int64_t)> origin_;
  std::mutex mutex_;
  std::vector<NonFinite> found_;
};

}  // namespace bertft
