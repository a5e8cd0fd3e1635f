#include "tasks/text_regression.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mse_loss.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "metrics/correlation.h"

namespace bertft {

TextRegression::TextRegression(const TaskSettings& settings) : SequenceTask(settings) {
  if (!settings.class_weights.is_uniform()) {
    throw ConfigError("train.class_weights: they are for data.label_type single; real values have no classes");
  }
  if (settings.label_smoothing > 0.0) throw ConfigError("train.label_smoothing: it is for data.label_type single");
}

HeadDescription TextRegression::describe_head(const EncoderConfig& config) const {
  HeadDescription head = SequenceTask::describe_head(config);
  head.labels = {"LABEL_0"};  // transformers takes the number of outputs from the number of labels
  return head;
}

at::Tensor TextRegression::loss_sum(const at::Tensor& outputs, const Dataset& dataset,
                                    std::span<const int64_t> rows) const {
  at::Tensor targets = at::empty({static_cast<int64_t>(rows.size())}, at::kDouble);
  auto* data = targets.mutable_data_ptr<double>();
  for (size_t i = 0; i < rows.size(); ++i) data[i] = dataset.value(rows[i]);
  return at::mse_loss(outputs.squeeze(1), targets.to(outputs.options()), at::Reduction::Sum);
}

Evaluation TextRegression::evaluate(const RowOutputs& outputs, const Dataset& dataset) const {
  check(outputs.rows_set() == dataset.rows(), "an evaluation covers every row");
  std::vector<double> predicted;
  std::vector<double> losses;
  for (int64_t row = 0; row < dataset.rows(); ++row) {
    predicted.push_back(outputs.row(row)[0]);
    const double difference = predicted.back() - dataset.value(row);
    losses.push_back(difference * difference);
  }
  const RealScores scores = score_real(dataset.values(), predicted);
  Evaluation result;
  result.rows = dataset.rows();
  result.metrics = {{"loss", scores.mean_squared_error}, {"mae", scores.mean_absolute_error}};
  result.worst_errors = worst_errors(losses, std::vector<uint8_t>(losses.size(), 1));
  const std::string reason = "all true values, or all predictions, are equal";
  result.add_metric("pearson", scores.pearson, reason);
  result.add_metric("spearman", scores.spearman, reason);
  const auto [low, high] = std::minmax_element(predicted.begin(), predicted.end());
  result.report = fmt::format("mean squared error {:.6f}, mean absolute error {:.6f} over {} rows\n",
                              scores.mean_squared_error, scores.mean_absolute_error, scores.rows);
  if (!predicted.empty()) result.report += fmt::format("predictions from {:.4f} to {:.4f}\n", *low, *high);
  return result;
}

MetricChoice TextRegression::choose_metric(const std::string& wanted) const {
  if (wanted == "auto") return {"pearson", true};
  if (wanted == "pearson" || wanted == "spearman") return {wanted, true};
  if (wanted == "loss" || wanted == "mae") return {wanted, false};
  fail_unknown_metric(wanted, "text_classification with data.label_type real", {"pearson", "spearman", "loss", "mae"});
}

std::vector<std::string> TextRegression::prediction_columns(const PredictionFormat&) const { return {"prediction"}; }

std::vector<std::string> TextRegression::prediction_cells(std::span<const double> outputs,
                                                          const PredictionFormat& format) const {
  return {prediction_number(outputs[0], format)};
}

}  // namespace bertft
