#include "tasks/text_classification.h"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "data/targets.h"
#include "metrics/classification_report.h"
#include "model/families.h"

namespace bertft {
namespace {

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

TextClassification::TextClassification(const TaskSettings& settings) : reader_(settings.labels) {
  if (settings.known_labels) labels_ = LabelTable(*settings.known_labels);
}

RowEncoder TextClassification::row_encoder(const Tokenizer& tokenizer, const EncodeOptions& options, TargetUse) const {
  return sequence_encoder(tokenizer, options);
}

std::vector<std::string> TextClassification::prepare(const Dataset& training) {
  labels_ = find_labels(training, reader_);
  return label_warnings(training, reader_, labels_);
}

void TextClassification::attach_targets(Dataset& dataset) const { bertft::attach_targets(dataset, reader_, labels_); }

double TextClassification::weight(const Dataset&, std::span<const int64_t> rows) const {
  return static_cast<double>(rows.size());
}

void TextClassification::append_head_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs) const {
  SequenceHead::append_specs(config, labels_.size(), specs);
}

void TextClassification::build_head(const EncoderConfig& config, ParameterStore& store) {
  head_.emplace(config, store);
}

HeadDescription TextClassification::describe_head(const EncoderConfig& config) const {
  return {find_family(config.model_type)->classifier_architecture, "single_label_classification", labels_.names()};
}

at::Tensor TextClassification::forward(const at::Tensor& states, const ForwardPass& pass) const {
  return head_->forward(states, pass);
}

at::Tensor TextClassification::loss_sum(const at::Tensor& outputs, const Dataset& dataset,
                                        std::span<const int64_t> rows) const {
  at::Tensor targets = at::empty({static_cast<int64_t>(rows.size())}, at::kLong);
  auto* data = targets.mutable_data_ptr<int64_t>();
  for (size_t i = 0; i < rows.size(); ++i) data[i] = dataset.label(rows[i]);
  return at::cross_entropy_loss(outputs, targets.to(outputs.device()), {}, at::Reduction::Sum);
}

void TextClassification::collect(const at::Tensor& outputs, const ForwardPass& pass, RowOutputs& all) const {
  const at::Tensor values = outputs.detach().to(at::kCPU, at::kDouble).contiguous();  // [S, labels]
  const auto width = static_cast<size_t>(values.size(1));
  const std::span<const double> flat(values.const_data_ptr<double>(), static_cast<size_t>(values.numel()));
  for (size_t s = 0; s < pass.rows.size(); ++s) all.set(pass.rows[s], flat.subspan(s * width, width));
}

Evaluation TextClassification::evaluate(const RowOutputs& outputs, const Dataset& dataset) const {
  check(outputs.rows_set() == dataset.rows(), "an evaluation covers every row");
  std::vector<int32_t> predicted;
  double loss = 0.0;
  for (int64_t row = 0; row < dataset.rows(); ++row) {
    const std::span<const double> logits = outputs.row(row);
    loss += log_sum_exp(logits) - logits[static_cast<size_t>(dataset.label(row))];
    predicted.push_back(largest_index(logits));
  }
  Evaluation result;
  result.rows = dataset.rows();
  result.classification = score_classification(dataset.labels(), predicted, labels_.size());
  result.metrics = {{"loss", loss / static_cast<double>(std::max<int64_t>(1, dataset.rows()))},
                    {"accuracy", result.classification.accuracy},
                    {"macro_f1", result.classification.macro.f1},
                    {"weighted_f1", result.classification.weighted.f1}};
  result.report = classification_report(result.classification, labels_.names());
  return result;
}

MetricChoice TextClassification::choose_metric(const std::string& wanted) const {
  if (wanted == "auto" || wanted == "accuracy") return {"accuracy", true};
  if (wanted == "macro_f1") return {"macro_f1", true};
  if (wanted == "loss") return {"loss", false};
  throw ConfigError("eval.metric: '" + wanted + "' is not a metric of text_classification: accuracy, macro_f1, loss");
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
  const auto number = [&](double value) { return fmt::format("{:.{}f}", value, format.digits); };
  const auto probability = [&](double logit) { return number(std::exp(logit - log_sum)); };
  std::vector<std::string> cells = {labels_.name(best), probability(logits[static_cast<size_t>(best)])};
  for (const double logit : logits) cells.push_back(probability(logit));
  if (format.has_logits) {
    for (const double logit : logits) cells.push_back(number(logit));
  }
  return cells;
}

}  // namespace bertft
