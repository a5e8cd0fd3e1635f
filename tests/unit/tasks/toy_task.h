// A task that uses every seam of tasks/task.h beyond those of text classification: rows of two sequences, a target per
// token, features per position, states of all tokens, a weight that is not the number of rows, one prediction column.
// It tags the words of two texts: 1 = stands in the other text, too; 2 = the word b; 0 = anything else. The encoder
// sees each text alone, so the first answer can only come from the features.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/linear_layer.h"
#include "tasks/task.h"

namespace bertft::test {

class ToyTask final : public Task {
 public:
  static constexpr int64_t kTags = 3;
  static constexpr int64_t kFeatureWidth = 2;  // position / 10, and 1 for a word of the other text

  std::string name() const override { return "toy"; }
  RowEncoder row_encoder(const Tokenizer& tokenizer, const EncodeOptions& options, TargetUse targets) const override;
  std::string encoder_name() const override { return "toy/1"; }
  // Its tags are known beforehand, and the encoder makes them.
  std::vector<std::string> prepare(const Dataset&) override { return {}; }
  void attach_targets(Dataset&) const override {}
  const LabelTable& labels() const override { return labels_; }
  // Words, as special tokens have no tag.
  double weight(const Dataset& dataset, std::span<const int64_t> rows) const override;

  EncoderOutput encoder_output() const override { return EncoderOutput::kAllTokens; }
  void append_head_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs) const override;
  void build_head(const EncoderConfig& config, ParameterStore& store) override;
  HeadDescription describe_head(const EncoderConfig& config) const override;

  at::Tensor forward(const at::Tensor& states, const ForwardPass& pass) const override;  // [T, H] -> [T, kTags]
  at::Tensor loss_sum(const at::Tensor& outputs, const Dataset& dataset, std::span<const int64_t> rows) const override;
  void collect(const at::Tensor& outputs, const ForwardPass& pass, RowOutputs& all) const override;

  Evaluation evaluate(const RowOutputs& outputs, const Dataset& dataset) const override;
  MetricChoice choose_metric(const std::string& wanted) const override;

  std::vector<std::string> prediction_columns(const PredictionFormat&) const override { return {"tags"}; }
  std::vector<std::string> prediction_cells(std::span<const double> outputs,
                                            const PredictionFormat& format) const override;

 private:
  LabelTable labels_;
  std::optional<LinearLayer> tagger_;
};

}  // namespace bertft::test
