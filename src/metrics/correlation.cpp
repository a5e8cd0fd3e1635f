#include "metrics/correlation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace bertft {
namespace {

// The values with their mean taken off, at Euclidean length 1; empty when all are equal.
std::vector<double> unit_deviations(std::span<const double> values) {
  const double first = values.front();
  if (std::all_of(values.begin(), values.end(), [&](double value) { return value == first; })) return {};
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  std::vector<double> deviations;
  deviations.reserve(values.size());
  double largest = 0.0;
  for (const double value : values) {
    deviations.push_back(value - mean);
    largest = std::max(largest, std::abs(deviations.back()));
  }
  double squares = 0.0;  // of deviations / largest, so that nothing overflows
  for (double& deviation : deviations) {
    deviation /= largest;
    squares += deviation * deviation;
  }
  for (double& deviation : deviations) deviation /= std::sqrt(squares);
  return deviations;
}

}  // namespace

double pearson_correlation(std::span<const double> a, std::span<const double> b) {
  check(a.size() == b.size(), "one prediction per row");
  constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  if (a.size() < 2) return kUndefined;
  const std::vector<double> x = unit_deviations(a);
  const std::vector<double> y = unit_deviations(b);
  if (x.empty() || y.empty()) return kUndefined;
  return std::clamp(std::inner_product(x.begin(), x.end(), y.begin(), 0.0), -1.0, 1.0);
}

std::vector<double> average_ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = (static_cast<double>(begin + 1) + static_cast<double>(end)) / 2.0;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = shared;
    begin = end;
  }
  return ranks;
}

RealScores score_real(std::span<const double> truth, std::span<const double> predicted) {
  check(truth.size() == predicted.size(), "one prediction per row");
  RealScores scores;
  scores.rows = static_cast<int64_t>(truth.size());
  for (size_t row = 0; row < truth.size(); ++row) {
    const double error = predicted[row] - truth[row];
    scores.mean_squared_error += error * error;
    scores.mean_absolute_error += std::abs(error);
  }
  const auto rows = static_cast<double>(std::max<size_t>(1, truth.size()));
  scores.mean_squared_error /= rows;
  scores.mean_absolute_error /= rows;
  scores.pearson = pearson_correlation(truth, predicted);
  scores.spearman = pearson_correlation(average_ranks(truth), average_ranks(predicted));
  return scores;
}

}  // namespace bertft
