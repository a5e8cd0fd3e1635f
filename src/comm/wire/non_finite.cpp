#include "comm/wire/non_finite.h"

#include <algorithm>
#include <cmath>

namespace bertft {
namespace {

template <typename Element>
std::optional<NonFiniteScan> scan(const Element* x, int64_t n) {
  NonFiniteScan result;
  bool has_finite = false;
  for (int64_t i = 0; i < n; ++i) {
    const double value = static_cast<double>(x[i]);
    if (std::isfinite(value)) {
      result.min = has_finite ? std::min(result.min, value) : value;
      result.max = has_finite ? std::max(result.max, value) : value;
      has_finite = true;
      continue;
    }
    if (result.nan_count + result.inf_count == 0) result.first = i;
    (std::isnan(value) ? result.nan_count : result.inf_count) += 1;
  }
  if (result.nan_count + result.inf_count == 0) return std::nullopt;
  return result;
}

}  // namespace

std::optional<NonFiniteScan> scan_non_finite(const float* x, int64_t n) { return scan(x, n); }
std::optional<NonFiniteScan> scan_non_finite(const double* x, int64_t n) { return scan(x, n); }

}  // namespace bertft
