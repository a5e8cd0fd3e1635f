// What is wrong in a range of gradients that holds a value that is no finite number: where, how many of which kind, and
// between which bounds the rest lies. Slow and exact; called only after a kernel has seen that there is one.
#pragma once

#include <cstdint>
#include <optional>

namespace bertft {

struct NonFiniteScan {
  int64_t first = 0;  // index of the first one
  int64_t nan_count = 0;
  int64_t inf_count = 0;
  double min = 0.0;  // of the finite values; 0 when there is none
  double max = 0.0;
};

// Nothing when all n values are finite.
std::optional<NonFiniteScan> scan_non_finite(const float* x, int64_t n);
std::optional<NonFiniteScan> scan_non_finite(const double* x, int64_t n);

}  // namespace bertft
