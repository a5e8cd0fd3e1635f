// Scores of probabilities: how well they rank (area under the ROC curve), how well they can be trusted (calibration),
// and Matthews' correlation of decisions. Pure functions, in double precision.
#pragma once

#include <cstdint>
#include <span>

#include "metrics/classification.h"

namespace bertft {

// The probability that a random positive row scores higher than a random negative one, ties counting half:
// sklearn.metrics.roc_auc_score. NaN when only one of the two kinds occurs, as there. `is_positive`: 0 or 1 per row.
double roc_auc(std::span<const double> scores, std::span<const int32_t> is_positive);

// Expected calibration error (Naeini et al. 2015; Guo et al. 2017): the mean distance, weighted by rows, between
// confidence and share of right decisions in `bins` equally wide bins, the last one closed. 0 rows: 0. `is_right`: 0 or
// 1 per row. REQUIRES confidences in [0, 1].
double calibration_error(std::span<const double> confidences, std::span<const int32_t> is_right, int64_t bins = 15);

// Matthews' correlation coefficient for any number of classes (Gorodkin's R_K): sklearn.metrics.matthews_corrcoef. 0
// when the truth or the prediction is constant, as there.
double matthews_correlation(const ClassificationScores& scores);

}  // namespace bertft
