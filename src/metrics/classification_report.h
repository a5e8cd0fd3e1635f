// The scores of a classification as a text for people: a table of the classes with averages, and the confusion matrix
// when it is small enough to be read. Kept apart from the scores, which results.json takes as numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/classification.h"

namespace bertft {

struct ReportLimits {
  int32_t classes = 50;         // more are cut from the table, the number of those left out is said
  int32_t matrix_classes = 12;  // with more classes the matrix is not shown, its largest errors are
  int32_t errors = 10;          // that many of them
};

// Lines end in LF. Names are shown as written, cut when longer than 30 bytes. REQUIRES one name per class.
std::string classification_report(const ClassificationScores& scores, const std::vector<std::string>& names,
                                  const ReportLimits& limits = {});

}  // namespace bertft
