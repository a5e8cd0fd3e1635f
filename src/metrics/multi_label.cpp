#include "metrics/multi_label.h"

#include <algorithm>

#include "core/error.h"

namespace bertft {
namespace {

struct Counts {
  int64_t hits = 0, truth = 0, predicted = 0;
};

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

AveragedScores scores_of(const Counts& counts) {
  const auto hits = static_cast<double>(counts.hits);
  return {ratio(hits, static_cast<double>(counts.predicted)), ratio(hits, static_cast<double>(counts.truth)),
          ratio(2 * hits, static_cast<double>(counts.truth + counts.predicted))};
}

// Adds weight * one to sum.
void add(AveragedScores& sum, const AveragedScores& one, double weight) {
  sum.precision += weight * one.precision;
  sum.recall += weight * one.recall;
  sum.f1 += weight * one.f1;
}

AveragedScores divided(const AveragedScores& sum, double by) {
  return {ratio(sum.precision, by), ratio(sum.recall, by), ratio(sum.f1, by)};
}

}  // namespace

MultiLabelScores score_multi_label(std::span<const uint8_t> truth, std::span<const uint8_t> predicted, int32_t labels) {
  check(labels > 0 && truth.size() == predicted.size(), "one decision per row and label");
  const auto width = static_cast<size_t>(labels);
  check(truth.size() % width == 0, "whole rows");
  MultiLabelScores scores;
  scores.rows = static_cast<int64_t>(truth.size() / width);
  std::vector<Counts> per_label(width);
  Counts all;
  int64_t wrong = 0;
  int64_t exact = 0;
  for (size_t begin = 0; begin < truth.size(); begin += width) {
    Counts row;
    int64_t row_wrong = 0;
    for (size_t k = 0; k < width; ++k) {
      const int64_t t = truth[begin + k] != 0;
      const int64_t p = predicted[begin + k] != 0;
      for (Counts* counts : {&row, &per_label[k], &all}) {
        counts->hits += t * p;
        counts->truth += t;
        counts->predicted += p;
      }
      row_wrong += t != p;
    }
    add(scores.samples, scores_of(row), 1.0);
    wrong += row_wrong;
    exact += row_wrong == 0;
  }
  const auto rows = static_cast<double>(scores.rows);
  scores.exact_match = ratio(static_cast<double>(exact), rows);
  scores.hamming_loss = ratio(static_cast<double>(wrong), static_cast<double>(truth.size()));
  scores.samples = divided(scores.samples, rows);
  scores.micro = scores_of(all);
  for (const Counts& counts : per_label) {
    const AveragedScores one = scores_of(counts);
    scores.labels.push_back({one.precision, one.recall, one.f1, counts.truth, counts.predicted});
    add(scores.macro, one, 1.0);
    add(scores.weighted, one, static_cast<double>(counts.truth));
  }
  scores.macro = divided(scores.macro, static_cast<double>(width));
  scores.weighted = divided(scores.weighted, static_cast<double>(all.truth));
  return scores;
}

}  // namespace bertft
