// Scores of single-label classification: accuracy, precision, recall and F1 of each class, their averages, and the
// confusion matrix. Pure functions of (true, predicted) class numbers in row order, all in double precision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bertft {

// One non-zero cell of the confusion matrix.
struct ConfusionCell {
  int32_t truth = 0;
  int32_t predicted = 0;
  int64_t count = 0;
  bool operator==(const ConfusionCell&) const = default;
};

// Undefined values (a class that nothing is predicted to be, or that no row has) are 0, as in scikit-learn's
// precision_recall_fscore_support with zero_division=0.
struct ClassScores {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  int64_t support = 0;    // rows that have this class
  int64_t predicted = 0;  // rows that are predicted to have it
};

// Averages over all classes, those without rows included: scikit-learn's with labels=range(classes).
struct AveragedScores {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
};

struct ClassificationScores {
  int64_t rows = 0;
  int64_t correct = 0;
  double accuracy = 0;  // of zero rows: 0
  std::vector<ClassScores> classes;
  AveragedScores micro;     // over all decisions; for single labels all three equal the accuracy
  AveragedScores macro;     // each class counts the same
  AveragedScores weighted;  // each class counts by its support
  // Sorted by (truth, predicted). Sparse, since classes^2 cells do not fit for 100,000 classes.
  std::vector<ConfusionCell> confusion;
};

// REQUIRES two spans of equal length with all values in [0, classes); throws InternalError otherwise.
ClassificationScores score_classification(std::span<const int32_t> truth, std::span<const int32_t> predicted,
                                          int32_t classes);

// The full matrix, row-major [classes, classes]: rows are the truth, columns the prediction.
std::vector<int64_t> dense_confusion(const ClassificationScores& scores);

}  // namespace bertft
