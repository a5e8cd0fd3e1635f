#include "metrics/classification.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace bertft {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

double ratio(int64_t part, int64_t whole) { return ratio(static_cast<double>(part), static_cast<double>(whole)); }

double harmonic_mean(double a, double b) { return ratio(2 * a * b, a + b); }

std::vector<ConfusionCell> count_cells(std::span<const int32_t> truth, std::span<const int32_t> predicted,
                                       int32_t classes) {
  std::vector<std::pair<int32_t, int32_t>> decisions;
  decisions.reserve(truth.size());
  for (size_t row = 0; row < truth.size(); ++row) {
    check(truth[row] >= 0 && truth[row] < classes, "a true class lies in [0, classes)");
    check(predicted[row] >= 0 && predicted[row] < classes, "a predicted class lies in [0, classes)");
    decisions.emplace_back(truth[row], predicted[row]);
  }
  std::sort(decisions.begin(), decisions.end());
  std::vector<ConfusionCell> cells;
  for (const auto& [true_class, predicted_class] : decisions) {
    if (cells.empty() || cells.back().truth != true_class || cells.back().predicted != predicted_class) {
      cells.push_back({true_class, predicted_class, 0});
    }
    ++cells.back().count;
  }
  return cells;
}

void average(ClassificationScores& scores) {
  for (const ClassScores& one : scores.classes) {
    const double weight = static_cast<double>(one.support);
    scores.macro.precision += one.precision;
    scores.macro.recall += one.recall;
    scores.macro.f1 += one.f1;
    scores.weighted.precision += weight * one.precision;
    scores.weighted.recall += weight * one.recall;
    scores.weighted.f1 += weight * one.f1;
  }
  const auto divide = [](AveragedScores& averaged, double by) {
    averaged = {ratio(averaged.precision, by), ratio(averaged.recall, by), ratio(averaged.f1, by)};
  };
  divide(scores.macro, static_cast<double>(scores.classes.size()));
  divide(scores.weighted, static_cast<double>(scores.rows));
  scores.micro = {scores.accuracy, scores.accuracy, scores.accuracy};
}

}  // namespace

ClassificationScores score_classification(std::span<const int32_t> truth, std::span<const int32_t> predicted,
                                          int32_t classes) {
  check(truth.size() == predicted.size(), "one prediction per row");
  check(classes > 0, "at least one class");
  ClassificationScores scores;
  scores.rows = static_cast<int64_t>(truth.size());
  scores.confusion = count_cells(truth, predicted, classes);
  scores.classes.resize(static_cast<size_t>(classes));
  std::vector<int64_t> hits(scores.classes.size(), 0);
  for (const ConfusionCell& cell : scores.confusion) {
    scores.classes[static_cast<size_t>(cell.truth)].support += cell.count;
    scores.classes[static_cast<size_t>(cell.predicted)].predicted += cell.count;
    if (cell.truth == cell.predicted) hits[static_cast<size_t>(cell.truth)] = cell.count;
  }
  for (size_t k = 0; k < hits.size(); ++k) {
    ClassScores& one = scores.classes[k];
    one.precision = ratio(hits[k], one.predicted);
    one.recall = ratio(hits[k], one.support);
    one.f1 = harmonic_mean(one.precision, one.recall);
    scores.correct += hits[k];
  }
  scores.accuracy = ratio(scores.correct, scores.rows);
  average(scores);
  return scores;
}

std::vector<int64_t> dense_confusion(const ClassificationScores& scores) {
  const size_t classes = scores.classes.size();
  std::vector<int64_t> matrix(classes * classes, 0);
  for (const ConfusionCell& cell : scores.confusion) {
    matrix[static_cast<size_t>(cell.truth) * classes + static_cast<size_t>(cell.predicted)] = cell.count;
  }
  return matrix;
}

}  // namespace bertft
