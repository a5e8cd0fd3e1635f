// Text classification with any number of labels for each text or pair of texts: one yes or no per label, as
// transformers' problem_type multi_label_classification.
#pragma once

#include <string>
#include <vector>

#include "tasks/sequence_task.h"

namespace bertft {

class MultiLabelClassification final : public SequenceTask {
 public:
  // Throws ConfigError for label settings that cannot be used, and for class weights and smoothing, which it lacks.
  explicit MultiLabelClassification(const TaskSettings& settings);

  // Binary cross-entropy of each label, averaged over the labels (torch's BCEWithLogitsLoss).
  at::Tensor loss_sum(const at::Tensor& outputs, const Dataset& dataset, std::span<const int64_t> rows) const override;

  Evaluation evaluate(const RowOutputs& outputs, const Dataset& dataset) const override;
  MetricChoice choose_metric(const std::string& wanted) const override;

  // prediction: the labels with a probability above 0.5, joined by commas; probability: of exactly this set, the labels
  // taken as independent.
  std::vector<std::string> prediction_columns(const PredictionFormat& format) const override;
  std::vector<std::string> prediction_cells(std::span<const double> logits,
                                            const PredictionFormat& format) const override;

 protected:
  std::string problem_type() const override { return "multi_label_classification"; }
};

}  // namespace bertft
