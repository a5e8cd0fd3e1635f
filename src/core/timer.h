// Wall-clock measurements for logs and results. Nothing that can change a bit of a result reads a clock.
#pragma once

#include <chrono>

namespace bertft {

class Timer {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  void restart() { start_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Seconds since this process was started by exec, to 10 ms.
double seconds_since_exec();

}  // namespace bertft
