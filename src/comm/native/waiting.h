// What a thread of the transport waits for: kept for reports about stalls, and turned into the error when a wait takes
// longer than allowed.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "comm/native/topology.h"
#include "comm/transport.h"

namespace bertft::native {

// One per lane; written by its thread, read by any.
class WaitRecord {
 public:
  void set(TransportWait wait) {
    const std::lock_guard lock(mutex_);
    wait_ = std::move(wait);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    wait_.reset();
  }
  std::optional<TransportWait> get() const {
    const std::lock_guard lock(mutex_);
    return wait_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<TransportWait> wait_;
};

// "lane 0, step 7, unit 3: waited 120 s for the contribution of rank 2 (b)".
std::string late_text(const TransportWait& wait, double seconds, const Topology& topology);

}  // namespace bertft::native
