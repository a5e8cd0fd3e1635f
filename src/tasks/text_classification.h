// Text classification: one label out of a fixed set for each text or pair of texts. The head, its loss (cross-entropy)
// and the written directory are those of transformers' BertForSequenceClassification.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/label_reader.h"
#include "data/labels.h"
#include "model/sequence_head.h"
#include "tasks/task.h"

namespace bertft {

class TextClassification final : public Task {
 public:
  // Throws ConfigError for label settings that cannot be used.
  explicit TextClassification(const TaskSettings& settings);

  std::string name() const override { return "text_classification"; }
  RowEncoder row_encoder(const Tokenizer& tokenizer, const EncodeOptions& options, TargetUse targets) const override;
  std::string encoder_name() const override { return "sequence/1"; }
  std::vector<std::string> prepare(const Dataset& training) override;
  void attach_targets(Dataset& dataset) const override;
  const LabelTable& labels() const override { return labels_; }
  double weight(const Dataset& dataset, std::span<const int64_t> rows) const override;

  EncoderOutput encoder_output() const override { return EncoderOutput::kFirstTokens; }
  void append_head_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs) const override;
  void build_head(const EncoderConfig& config, ParameterStore& store) override;
  HeadDescription describe_head(const EncoderConfig& config) const override;

  at::Tensor forward(const at::Tensor& states, const ForwardPass& pass) const override;  // [S, H] -> [S, labels]
  at::Tensor loss_sum(const at::Tensor& outputs, const Dataset& dataset, std::span<const int64_t> rows) const override;
  void collect(const at::Tensor& outputs, const ForwardPass& pass, RowOutputs& all) const override;

  Evaluation evaluate(const RowOutputs& outputs, const Dataset& dataset) const override;
  MetricChoice choose_metric(const std::string& wanted) const override;

  std::vector<std::string> prediction_columns(const PredictionFormat& format) const override;
  std::vector<std::string> prediction_cells(std::span<const double> logits,
                                            const PredictionFormat& format) const override;

 private:
  LabelReader reader_;
  LabelTable labels_;
  std::optional<SequenceHead> head_;
};

}  // namespace bertft
