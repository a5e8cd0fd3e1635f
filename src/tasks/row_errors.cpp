#include "tasks/row_errors.h"

#include <algorithm>

namespace bertft {

std::vector<RowError> worst_errors(std::span<const double> losses, std::span<const uint8_t> is_wrong) {
  std::vector<RowError> errors;
  for (size_t row = 0; row < losses.size(); ++row) {
    if (is_wrong[row] != 0) errors.push_back({static_cast<int64_t>(row), losses[row]});
  }
  const auto comes_first = [](const RowError& a, const RowError& b) {
    return a.loss != b.loss ? a.loss > b.loss : a.row < b.row;
  };
  const auto kept = std::min<std::ptrdiff_t>(kWorstErrors, static_cast<std::ptrdiff_t>(errors.size()));
  std::partial_sort(errors.begin(), errors.begin() + kept, errors.end(), comes_first);
  errors.resize(static_cast<size_t>(kept));
  return errors;
}

}  // namespace bertft
