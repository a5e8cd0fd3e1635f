// Scores of real-valued predictions: Pearson's and Spearman's correlation, mean squared and mean absolute error. Pure
// functions of (true, predicted) values in row order, in double precision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bertft {

struct RealScores {
  int64_t rows = 0;
  double mean_squared_error = 0;   // of zero rows: 0
  double mean_absolute_error = 0;  // of zero rows: 0
  double pearson = 0;              // NaN: undefined
  double spearman = 0;             // NaN: undefined
};

// As scipy.stats.pearsonr and spearmanr, sklearn.metrics.mean_squared_error and mean_absolute_error. A correlation is
// undefined (NaN) with fewer than two rows or when one side is constant. REQUIRES two spans of equal length.
RealScores score_real(std::span<const double> truth, std::span<const double> predicted);

// Pearson's coefficient; NaN when undefined.
double pearson_correlation(std::span<const double> a, std::span<const double> b);

// Ranks from 1; equal values share the mean of their ranks (scipy.stats.rankdata, "average").
std::vector<double> average_ranks(std::span<const double> values);

}  // namespace bertft
