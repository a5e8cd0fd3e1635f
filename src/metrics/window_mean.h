// The mean of the last N values, for the smoothed loss of the log. It is summed afresh each time, so it depends on
// those values alone: no drift, and a resumed run shows the same figures once it has seen as many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bertft {

class WindowMean {
 public:
  // REQUIRES window >= 1 values.
  explicit WindowMean(int64_t window);

  void add(double value);

  // Over the values seen so far while they are fewer than the window; 0 before the first.
  double mean() const;

  // Oldest first; add() them to another object to restore it.
  std::vector<double> values() const;

 private:
  size_t window_;
  size_t oldest_ = 0;  // index into values_ once the window is full
  std::vector<double> values_;
};

}  // namespace bertft
