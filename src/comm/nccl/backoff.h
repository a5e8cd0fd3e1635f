// How long a thread pauses between two looks at something that a device or a library will have done some time.
#pragma once

#include <algorithm>
#include <chrono>

namespace bertft::nccl {

class Backoff {
 public:
  // Zero for the first looks (a device is often done within microseconds), then twice as long each time, up to 1 ms.
  std::chrono::microseconds next() {
    if (looks_ < kEagerLooks) {
      ++looks_;
      return std::chrono::microseconds(0);
    }
    pause_ = std::min(2 * pause_, kLongest);
    return pause_;
  }
  void reset() { *this = {}; }

 private:
  static constexpr int kEagerLooks = 50;
  static constexpr std::chrono::microseconds kLongest{1000};
  int looks_ = 0;
  std::chrono::microseconds pause_{10};
};

}  // namespace bertft::nccl
