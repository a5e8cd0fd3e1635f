// The rows on which a model is most wrong: what a person looks at first after a training.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bertft {

struct RowError {
  int64_t row = 0;    // of the data set
  double loss = 0.0;  // of that row alone
};

inline constexpr int64_t kWorstErrors = 50;

// Of the rows whose prediction is wrong, the kWorstErrors with the largest loss, largest first (equal ones by row).
// losses, is_wrong: [R].
std::vector<RowError> worst_errors(std::span<const double> losses, std::span<const uint8_t> is_wrong);

}  // namespace bertft
