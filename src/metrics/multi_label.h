// Scores of multi-label classification: each row has any number of labels. Pure functions of two 0/1 matrices in row
// order, all in double precision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metrics/classification.h"

namespace bertft {

struct MultiLabelScores {
  int64_t rows = 0;
  double exact_match = 0;   // share of rows whose set of labels is right: sklearn's accuracy_score
  double hamming_loss = 0;  // share of single decisions that are wrong
  // Per label; undefined values are 0, as in scikit-learn's precision_recall_fscore_support with zero_division=0.
  std::vector<ClassScores> labels;
  AveragedScores micro;     // over all single decisions
  AveragedScores macro;     // each label counts the same
  AveragedScores weighted;  // each label counts by its rows
  AveragedScores samples;   // mean over the rows
};

// `truth` and `predicted`: row-major [rows, labels], 0 or 1. REQUIRES equal sizes, a multiple of labels > 0.
MultiLabelScores score_multi_label(std::span<const uint8_t> truth, std::span<const uint8_t> predicted, int32_t labels);

}  // namespace bertft
