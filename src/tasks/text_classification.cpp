#include "tasks/text_classification.h"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "metrics/classification_report.h"
#include "metrics/ranking.h"

namespace bertft {
namespace {

constexpr int64_t kNoIgnoredClass = -100;  // torch's default

// log(sum(exp(logits))), stable.
double log_sum_exp(std::span<const double> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const double logit : logits) sum += std::exp(logit - largest);
  return largest + std::log(sum);
}

int32_t largest_index(std::span<const double> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace

TextClassification::TextClassification(const TaskSettings& settings)
    : SequenceTask(settings), settings_(settings.class_weights), label_smoothing_(settings.label_smoothing) {}

std::string TextClassification::see_training_rows(const Dataset& training) {
  if (settings_.is_uniform()) return "";
  class_weights_ = weights_of_classes(settings_, labels_, training.labels());
  constexpr size_t kShown = 20;
  std::vector<std::string> named;
  for (size_t k = 0; k < std::min(kShown, class_weights_.size()); ++k) {
    named.push_back(fmt::format("{} {:.4g}", excerpt(labels_.name(static_cast<int32_t>(k))), class_weights_[k]));
  }
  if (class_weights_.size() > kShown) named.push_back(fmt::format("... {} more", class_weights_.size() - kShown));
  return "class weights: " + join(named, ", ");
}

double TextClassification::weight(const Dataset& dataset, std::span<const int64_t> rows) const {
  if (class_weights_.empty()) return SequenceTask::weight(dataset, rows);
  double sum = 0.0;
  for (const int64_t row : rows) sum += class_weights_[static_cast<size_t>(dataset.label(row))];
  return sum;
}

at::Tensor TextClassification::loss_sum(const at::Tensor& outputs, const Dataset& dataset,
                                        std::span<const int64_t> rows) const {
  at::Tensor targets = at::empty({static_cast<int64_t>(rows.size())}, at::kLong);
  auto* data = targets.mutable_data_ptr<int64_t>();
  for (size_t i = 0; i < rows.size(); ++i) data[i] = dataset.label(rows[i]);
  at::Tensor weights;
  if (!class_weights_.empty()) weights = at::tensor(class_weights_, at::kDouble).to(outputs.options());
  return at::cross_entropy_loss(outputs, targets.to(outputs.device()), weights, at::Reduction::Sum, kNoIgnoredClass,
                                label_smoothing_);
}

Evaluation TextClassification::evaluate(const RowOutputs& outputs, const Dataset& dataset) const {
  check(outputs.rows_set() == dataset.rows(), "an evaluation covers every row");
  std::vector<int32_t> predicted, is_right, is_second;
  std::vector<double> confidences, second_scores, losses;
  std::vector<uint8_t> is_wrong;
  double loss = 0.0;
  for (int64_t row = 0; row < dataset.rows(); ++row) {
    const std::span<const double> logits = outputs.row(row);
    const int32_t truth = dataset.label(row);
    const double log_sum = log_sum_exp(logits);
    losses.push_back(log_sum - logits[static_cast<size_t>(truth)]);
    loss += losses.back();
    predicted.push_back(largest_index(logits));
    is_wrong.push_back(predicted.back() == truth ? 0 : 1);
    is_right.push_back(predicted.back() == truth ? 1 : 0);
    confidences.push_back(std::min(1.0, std::exp(logits[static_cast<size_t>(predicted.back())] - log_sum)));
    is_second.push_back(truth == 1 ? 1 : 0);
    second_scores.push_back(logits[1] - logits[0]);  // ranks as the probability of the second class does
  }
  Evaluation result;
  result.rows = dataset.rows();
  result.classification = score_classification(dataset.labels(), predicted, labels_.size());
  result.metrics = {{"loss", loss / static_cast<double>(std::max<int64_t>(1, dataset.rows()))},
                    {"accuracy", result.classification.accuracy},
                    {"macro_f1", result.classification.macro.f1},
                    {"weighted_f1", result.classification.weighted.f1},
                    {"mcc", matthews_correlation(result.classification)}};
  if (labels_.size() == 2) {
    result.metrics.emplace_back("f1", result.classification.classes[1].f1);
    result.add_metric("auc", roc_auc(second_scores, is_second), "all rows are of one class");
  }
  result.metrics.emplace_back("calibration_error", calibration_error(confidences, is_right));
  result.worst_errors = worst_errors(losses, is_wrong);
  result.report = classification_report(result.classification, labels_.names());
  return result;
}

MetricChoice TextClassification::choose_metric(const std::string& wanted) const {
  if (wanted == "auto") return {"accuracy", true};
  if (wanted == "loss" || wanted == "calibration_error") return {wanted, false};
  std::vector<std::string> known = {"accuracy", "macro_f1", "weighted_f1", "mcc"};
  const bool may_be_binary = labels_.size() == 0 || labels_.size() == 2;  // 0: not yet known
  if (may_be_binary) known.insert(known.end(), {"f1", "auc"});
  if (std::count(known.begin(), known.end(), wanted) > 0) return {wanted, true};
  known.insert(known.end(), {"loss", "calibration_error"});
  fail_unknown_metric(wanted, may_be_binary ? "text_classification" : "text_classification with more than two labels",
                      known);
}

std::vector<std::string> TextClassification::prediction_columns(const PredictionFormat& format) const {
  std::vector<std::string> columns = {"prediction", "probability"};
  for (const std::string& label : labels_.names()) columns.push_back("prob_" + label);
  if (format.has_logits) {
    for (const std::string& label : labels_.names()) columns.push_back("logit_" + label);
  }
  return columns;
}

std::vector<std::string> TextClassification::prediction_cells(std::span<const double> logits,
                                                              const PredictionFormat& format) const {
  const double log_sum = log_sum_exp(logits);
  const int32_t best = largest_index(logits);
  const auto number = [&](double value) { return prediction_number(value, format); };
  const auto probability = [&](double logit) { return number(std::exp(logit - log_sum)); };
  std::vector<std::string> cells = {labels_.name(best), probability(logits[static_cast<size_t>(best)])};
  for (const double logit : logits) cells.push_back(probability(logit));
  if (format.has_logits) {
    for (const double logit : logits) cells.push_back(number(logit));
  }
  return cells;
}

}  // namespace bertft
