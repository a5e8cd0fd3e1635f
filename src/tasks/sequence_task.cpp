#include "tasks/sequence_task.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "data/targets.h"
#include "model/families.h"

namespace bertft {

SequenceTask::SequenceTask(const TaskSettings& settings) : reader_(settings.labels) {
  const bool has_classes = settings.labels.type != LabelType::kReal;
  if (settings.known_labels && has_classes) labels_ = LabelTable(*settings.known_labels);
}

RowEncoder SequenceTask::row_encoder(const Tokenizer& tokenizer, const EncodeOptions& options, TargetUse) const {
  return sequence_encoder(tokenizer, options);
}

std::vector<std::string> SequenceTask::prepare(const Dataset& training) {
  if (reader_.settings().type == LabelType::kReal) return {};
  labels_ = find_labels(training, reader_);
  return label_warnings(training, reader_, labels_);
}

void SequenceTask::attach_targets(Dataset& dataset) const { bertft::attach_targets(dataset, reader_, labels_); }

double SequenceTask::weight(const Dataset&, std::span<const int64_t> rows) const {
  return static_cast<double>(rows.size());
}

void SequenceTask::append_head_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs) const {
  SequenceHead::append_specs(config, outputs(), specs);
}

void SequenceTask::build_head(const EncoderConfig& config, ParameterStore& store) { head_.emplace(config, store); }

HeadDescription SequenceTask::describe_head(const EncoderConfig& config) const {
  return {find_family(config.model_type)->classifier_architecture, problem_type(), labels_.names()};
}

at::Tensor SequenceTask::forward(const at::Tensor& states, const ForwardPass& pass) const {
  return head_->forward(states, pass);
}

void SequenceTask::collect(const at::Tensor& outputs, const ForwardPass& pass, RowOutputs& all) const {
  const at::Tensor values = outputs.detach().to(at::kCPU, at::kDouble).contiguous();  // [S, outputs]
  const auto width = static_cast<size_t>(values.size(1));
  const std::span<const double> flat(values.const_data_ptr<double>(), static_cast<size_t>(values.numel()));
  for (size_t s = 0; s < pass.rows.size(); ++s) all.set(pass.rows[s], flat.subspan(s * width, width));
}

std::string prediction_number(double value, const PredictionFormat& format) {
  return fmt::format("{:.{}f}", value, format.digits);
}

void fail_unknown_metric(const std::string& wanted, const std::string& kind, const std::vector<std::string>& known) {
  throw ConfigError("eval.metric: '" + wanted + "' is not a metric of " + kind + ": " + join(known, ", "));
}

}  // namespace bertft
