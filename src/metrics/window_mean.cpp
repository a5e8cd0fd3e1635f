#include "metrics/window_mean.h"

#include <algorithm>

#include "core/error.h"

namespace bertft {

WindowMean::WindowMean(int64_t window) : window_(static_cast<size_t>(window)) {
  check(window >= 1, "a window holds at least one value");
}

void WindowMean::add(double value) {
  if (values_.size() < window_) {
    values_.push_back(value);
    return;
  }
  values_[oldest_] = value;
  oldest_ = (oldest_ + 1) % window_;
}

std::vector<double> WindowMean::values() const {
  std::vector<double> in_order = values_;
  std::rotate(in_order.begin(), in_order.begin() + static_cast<std::ptrdiff_t>(oldest_), in_order.end());
  return in_order;
}

double WindowMean::mean() const {
  if (values_.empty()) return 0.0;
  double sum = 0.0;
  for (size_t i = 0; i < values_.size(); ++i) sum += values_[(oldest_ + i) % values_.size()];
  return sum / static_cast<double>(values_.size());
}

}  // namespace bertft
