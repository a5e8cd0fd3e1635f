#include "metrics/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "metrics/correlation.h"

namespace bertft {

double roc_auc(std::span<const double> scores, std::span<const int32_t> is_positive) {
  check(scores.size() == is_positive.size(), "one score per row");
  // The sum of the ranks of the positive rows (Mann and Whitney).
  const std::vector<double> ranks = average_ranks(scores);
  double rank_sum = 0.0;
  double positives = 0.0;
  for (size_t row = 0; row < ranks.size(); ++row) {
    if (is_positive[row] == 0) continue;
    rank_sum += ranks[row];
    positives += 1.0;
  }
  const double negatives = static_cast<double>(ranks.size()) - positives;
  if (positives == 0.0 || negatives == 0.0) return std::numeric_limits<double>::quiet_NaN();
  return (rank_sum - positives * (positives + 1.0) / 2.0) / (positives * negatives);
}

double calibration_error(std::span<const double> confidences, std::span<const int32_t> is_right, int64_t bins) {
  check(confidences.size() == is_right.size() && bins > 0, "one decision per confidence, and at least one bin");
  std::vector<double> differences(static_cast<size_t>(bins), 0.0);  // sum of confidence - right, per bin
  for (size_t row = 0; row < confidences.size(); ++row) {
    check(confidences[row] >= 0.0 && confidences[row] <= 1.0, "a confidence lies in [0, 1]");
    const auto bin = static_cast<int64_t>(confidences[row] * static_cast<double>(bins));
    differences[static_cast<size_t>(std::min(bin, bins - 1))] += confidences[row] - static_cast<double>(is_right[row]);
  }
  double sum = 0.0;
  for (const double difference : differences) sum += std::abs(difference);
  return sum / static_cast<double>(std::max<size_t>(1, confidences.size()));
}

double matthews_correlation(const ClassificationScores& scores) {
  // Covariances of the one-hot matrices of truth and prediction, times rows squared.
  const auto rows = static_cast<double>(scores.rows);
  double both = static_cast<double>(scores.correct) * rows;
  double truth = rows * rows;
  double predicted = rows * rows;
  for (const ClassScores& one : scores.classes) {
    const auto t = static_cast<double>(one.support);
    const auto p = static_cast<double>(one.predicted);
    both -= t * p;
    truth -= t * t;
    predicted -= p * p;
  }
  return truth == 0.0 || predicted == 0.0 ? 0.0 : both / std::sqrt(truth * predicted);
}

}  // namespace bertft
