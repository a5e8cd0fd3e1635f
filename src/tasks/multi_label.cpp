#include "tasks/multi_label.h"

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/text.h"
#include "metrics/classification_report.h"
#include "metrics/multi_label.h"
#include "metrics/ranking.h"

namespace bertft {
namespace {

double sigmoid(double logit) { return 1.0 / (1.0 + std::exp(-logit)); }

// -log of the probability of `truth`, stable.
double binary_loss(double logit, bool truth) {
  return std::max(logit, 0.0) - (truth ? logit : 0.0) + std::log1p(std::exp(-std::abs(logit)));
}

}  // namespace

MultiLabelClassification::MultiLabelClassification(const TaskSettings& settings) : SequenceTask(settings) {
  if (!settings.class_weights.is_uniform()) {
    throw ConfigError("train.class_weights: they are for data.label_type single; rows with several labels weigh alike");
  }
  if (settings.label_smoothing > 0.0) throw ConfigError("train.label_smoothing: it is for data.label_type single");
}

at::Tensor MultiLabelClassification::loss_sum(const at::Tensor& outputs, const Dataset& dataset,
                                              std::span<const int64_t> rows) const {
  const int64_t width = labels_.size();
  at::Tensor targets = at::zeros({static_cast<int64_t>(rows.size()), width}, at::kDouble);
  auto* data = targets.mutable_data_ptr<double>();
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const int32_t label : dataset.targets(rows[i])) data[static_cast<int64_t>(i) * width + label] = 1.0;
  }
  const at::Tensor sum =
      at::binary_cross_entropy_with_logits(outputs, targets.to(outputs.options()), {}, {}, at::Reduction::Sum);
  return sum.div(static_cast<double>(width));
}

Evaluation MultiLabelClassification::evaluate(const RowOutputs& outputs, const Dataset& dataset) const {
  check(outputs.rows_set() == dataset.rows(), "an evaluation covers every row");
  const auto width = static_cast<size_t>(labels_.size());
  const auto rows = static_cast<size_t>(dataset.rows());
  std::vector<uint8_t> truth(rows * width, 0);
  std::vector<uint8_t> predicted(rows * width, 0);
  std::vector<double> logits, losses(rows, 0.0);
  std::vector<uint8_t> is_wrong(rows, 0);
  double loss = 0.0;
  for (size_t row = 0; row < rows; ++row) {
    for (const int32_t label : dataset.targets(static_cast<int64_t>(row))) {
      truth[row * width + static_cast<size_t>(label)] = 1;
    }
    const std::span<const double> values = outputs.row(static_cast<int64_t>(row));
    for (size_t k = 0; k < width; ++k) {
      predicted[row * width + k] = values[k] > 0.0 ? 1 : 0;  // a probability above 0.5
      const double label_loss = binary_loss(values[k], truth[row * width + k] != 0);
      loss += label_loss;
      losses[row] += label_loss / static_cast<double>(width);
      if (predicted[row * width + k] != truth[row * width + k]) is_wrong[row] = 1;
      logits.push_back(values[k]);
    }
  }
  double area = 0.0;  // mean over the labels; NaN when one of them has rows of one kind only, as in scikit-learn
  for (size_t k = 0; k < width; ++k) {
    std::vector<double> scores;
    std::vector<int32_t> is_positive;
    for (size_t row = 0; row < rows; ++row) {
      scores.push_back(logits[row * width + k]);
      is_positive.push_back(truth[row * width + k]);
    }
    area += roc_auc(scores, is_positive) / static_cast<double>(width);
  }
  const MultiLabelScores scores = score_multi_label(truth, predicted, labels_.size());
  Evaluation result;
  result.rows = dataset.rows();
  result.classification.rows = scores.rows;
  result.classification.accuracy = scores.exact_match;
  result.classification.correct = std::llround(scores.exact_match * static_cast<double>(rows));
  result.classification.classes = scores.labels;
  result.classification.micro = scores.micro;
  result.classification.macro = scores.macro;
  result.classification.weighted = scores.weighted;
  result.metrics = {{"loss", loss / static_cast<double>(std::max<size_t>(1, rows * width))},
                    {"accuracy", scores.exact_match},
                    {"micro_f1", scores.micro.f1},
                    {"macro_f1", scores.macro.f1},
                    {"weighted_f1", scores.weighted.f1},
                    {"samples_f1", scores.samples.f1},
                    {"hamming_loss", scores.hamming_loss}};
  result.add_metric("auc", area, "a label that every row or no row has");
  result.worst_errors = worst_errors(losses, is_wrong);
  ReportLimits limits;
  limits.matrix_classes = 0;  // several labels a row have no confusion matrix
  result.report = classification_report(result.classification, labels_.names(), limits);
  return result;
}

MetricChoice MultiLabelClassification::choose_metric(const std::string& wanted) const {
  if (wanted == "auto") return {"micro_f1", true};
  if (wanted == "loss" || wanted == "hamming_loss") return {wanted, false};
  std::vector<std::string> known = {"accuracy", "micro_f1", "macro_f1", "weighted_f1", "samples_f1", "auc"};
  if (std::count(known.begin(), known.end(), wanted) > 0) return {wanted, true};
  known.insert(known.end(), {"loss", "hamming_loss"});
  fail_unknown_metric(wanted, "text_classification with data.label_type multi", known);
}

std::vector<std::string> MultiLabelClassification::prediction_columns(const PredictionFormat& format) const {
  std::vector<std::string> columns = {"prediction", "probability"};
  for (const std::string& label : labels_.names()) columns.push_back("prob_" + label);
  if (format.has_logits) {
    for (const std::string& label : labels_.names()) columns.push_back("logit_" + label);
  }
  return columns;
}

std::vector<std::string> MultiLabelClassification::prediction_cells(std::span<const double> logits,
                                                                    const PredictionFormat& format) const {
  std::vector<std::string> chosen;
  double log_probability = 0.0;
  std::vector<std::string> probabilities, raw;
  for (size_t k = 0; k < logits.size(); ++k) {
    const bool is_chosen = logits[k] > 0.0;
    if (is_chosen) chosen.push_back(labels_.name(static_cast<int32_t>(k)));
    log_probability -= binary_loss(logits[k], is_chosen);
    probabilities.push_back(prediction_number(sigmoid(logits[k]), format));
    raw.push_back(prediction_number(logits[k], format));
  }
  std::vector<std::string> cells = {join(chosen, ","), prediction_number(std::exp(log_probability), format)};
  cells.insert(cells.end(), probabilities.begin(), probabilities.end());
  if (format.has_logits) cells.insert(cells.end(), raw.begin(), raw.end());
  return cells;
}

}  // namespace bertft
