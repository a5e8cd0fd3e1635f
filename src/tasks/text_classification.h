// Text classification with one label out of a fixed set for each text or pair of texts: cross-entropy, as transformers'
// problem_type single_label_classification, with class weights and label smoothing as torch's cross_entropy.
#pragma once

#include <string>
#include <vector>

#include "tasks/class_weights.h"
#include "tasks/sequence_task.h"

namespace bertft {

class TextClassification final : public SequenceTask {
 public:
  // Throws ConfigError for label settings that cannot be used.
  explicit TextClassification(const TaskSettings& settings);

  // Finds the weights of the classes, and names them.
  std::string see_training_rows(const Dataset& training) override;
  // The sum of the weights of the rows' classes.
  double weight(const Dataset& dataset, std::span<const int64_t> rows) const override;
  at::Tensor loss_sum(const at::Tensor& outputs, const Dataset& dataset, std::span<const int64_t> rows) const override;

  // The loss here is plain cross-entropy, without weights and smoothing, so that runs can be compared.
  Evaluation evaluate(const RowOutputs& outputs, const Dataset& dataset) const override;
  MetricChoice choose_metric(const std::string& wanted) const override;

  std::vector<std::string> prediction_columns(const PredictionFormat& format) const override;
  std::vector<std::string> prediction_cells(std::span<const double> logits,
                                            const PredictionFormat& format) const override;

 protected:
  std::string problem_type() const override { return "single_label_classification"; }

 private:
  ClassWeights settings_;
  double label_smoothing_;
  std::vector<double> class_weights_;  // one per class; empty: all 1
};

}  // namespace bertft
