// A real value for each text or pair of texts: mean squared error on one output, as transformers' problem_type
// regression.
#pragma once

#include <string>
#include <vector>

#include "tasks/sequence_task.h"

namespace bertft {

class TextRegression final : public SequenceTask {
 public:
  // Throws ConfigError for label settings that cannot be used, and for class weights and smoothing, which it lacks.
  explicit TextRegression(const TaskSettings& settings);

  HeadDescription describe_head(const EncoderConfig& config) const override;
  at::Tensor loss_sum(const at::Tensor& outputs, const Dataset& dataset, std::span<const int64_t> rows) const override;

  Evaluation evaluate(const RowOutputs& outputs, const Dataset& dataset) const override;
  MetricChoice choose_metric(const std::string& wanted) const override;

  // prediction alone: the value is the logit.
  std::vector<std::string> prediction_columns(const PredictionFormat& format) const override;
  std::vector<std::string> prediction_cells(std::span<const double> outputs,
                                            const PredictionFormat& format) const override;

 protected:
  std::string problem_type() const override { return "regression"; }
  int32_t outputs() const override { return 1; }
};

}  // namespace bertft
