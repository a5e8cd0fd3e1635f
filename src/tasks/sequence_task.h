// What tasks that give one answer to each text or pair of texts have in common: the rows' sequences, their label cells,
// and the head on the first token. The head and the written directory are those of transformers'
// BertForSequenceClassification; what the targets are, the loss and the scores is left to the kinds of labels.
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

class SequenceTask : public Task {
 public:
  std::string name() const override { return "text_classification"; }
  RowEncoder row_encoder(const Tokenizer& tokenizer, const EncodeOptions& options, TargetUse targets) const override;
  std::string encoder_name() const override { return "sequence/1"; }
  std::vector<std::string> prepare(const Dataset& training) override;
  void attach_targets(Dataset& dataset) const override;
  const LabelTable& labels() const override { return labels_; }
  double weight(const Dataset& dataset, std::span<const int64_t> rows) const override;  // one a row

  EncoderOutput encoder_output() const override { return EncoderOutput::kFirstTokens; }
  void append_head_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs) const override;
  void build_head(const EncoderConfig& config, ParameterStore& store) override;
  HeadDescription describe_head(const EncoderConfig& config) const override;

  at::Tensor forward(const at::Tensor& states, const ForwardPass& pass) const override;  // [S, H] -> [S, outputs]
  void collect(const at::Tensor& outputs, const ForwardPass& pass, RowOutputs& all) const override;

 protected:
  // Throws ConfigError for label settings that cannot be used.
  explicit SequenceTask(const TaskSettings& settings);

  // problem_type of config.json.
  virtual std::string problem_type() const = 0;
  // The head's width.
  virtual int32_t outputs() const { return labels_.size(); }

  LabelReader reader_;
  LabelTable labels_;

 private:
  std::optional<SequenceHead> head_;
};

// "0.123456", as prediction columns write numbers.
std::string prediction_number(double value, const PredictionFormat& format);

// Throws ConfigError: `wanted` is no metric of this kind of task.
[[noreturn]] void fail_unknown_metric(const std::string& wanted, const std::string& kind,
                                      const std::vector<std::string>& known);

}  // namespace bertft
