// A task is what surrounds the encoder: how rows become sequences and targets, the head, the loss, the metrics and the
// columns of predictions. Trainer, evaluator and predictor know this interface only; CONTRIBUTING.md shows how to add
// one.
#pragma once

#include <ATen/core/Tensor.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/layout.h"
#include "data/dataset.h"
#include "data/label_settings.h"
#include "data/labels.h"
#include "data/row_encoder.h"
#include "metrics/classification.h"
#include "model/config.h"
#include "model/encoder.h"
#include "model/forward_pass.h"
#include "model/parameter_store.h"
#include "tasks/class_weights.h"
#include "tasks/row_errors.h"
#include "tasks/row_outputs.h"

namespace bertft {

// Whether rows are encoded with the targets that training and evaluation need, or without (prediction).
enum class TargetUse { kNeeded, kIgnored };

// What a task is made of.
struct TaskSettings {
  LabelSettings labels = {};
  std::optional<StringList> known_labels = {};  // of a trained model; else prepare() finds them
  ClassWeights class_weights = {};              // of the training loss; single labels only
  double label_smoothing = 0.0;                 // as class_weights
};

// The result of an evaluation; `metrics` in the order in which they are shown.
struct Evaluation {
  int64_t rows = 0;
  std::vector<std::pair<std::string, double>> metrics;  // "loss" and the task's own
  ClassificationScores classification;                  // filled by tasks that choose classes
  std::vector<RowError> worst_errors;
  std::string report;  // for people: per-class table, confusion matrix

  // Metrics that these rows leave undefined, with the reason. They are not in `metrics`.
  std::vector<std::pair<std::string, std::string>> undefined = {};

  // To `metrics`, or to `undefined` when the value is NaN.
  void add_metric(const std::string& name, double value, const std::string& why_undefined);
  // NaN when it is undefined; throws InternalError when there is none of that name.
  double metric(const std::string& name) const;
};

// A metric and which way is better.
struct MetricChoice {
  std::string name;
  bool is_higher_better = true;

  // Whether `now` beats `before`. An undefined value (NaN) never does, and any other beats it.
  bool is_better(double now, double before) const;
};

struct PredictionFormat {
  bool has_logits = false;
  int digits = 6;  // behind the decimal point
};

// What a written model directory says of the head, for other programs.
struct HeadDescription {
  std::string architecture;         // BertForSequenceClassification
  std::string problem_type;         // single_label_classification
  std::vector<std::string> labels;  // id2label, in order
};

class Task {
 public:
  virtual ~Task() = default;
  virtual std::string name() const = 0;

  // Rows to sequences, and to those targets that come from texts. A row yields one or more sequences. The encoder may
  // be called from several threads; `tokenizer` must outlive it, the task need not.
  virtual RowEncoder row_encoder(const Tokenizer& tokenizer, const EncodeOptions& options, TargetUse targets) const = 0;
  // Names what row_encoder makes, with a version that changes when that changes: for the keys of caches.
  virtual std::string encoder_name() const = 0;

  // Finds the classes, once, before the head is built. `training` holds all rows of the training files. Returns what a
  // user should look at. Throws DataError and ConfigError.
  virtual std::vector<std::string> prepare(const Dataset& training) = 0;
  // Gives the rows their targets; rows that have none may be left out of the data set. Throws DataError.
  virtual void attach_targets(Dataset& dataset) const = 0;
  // Shows the rows that will be trained on, with their targets, once before the first step. Returns what the task made
  // of them, for the log; "" for nothing.
  virtual std::string see_training_rows(const Dataset& /*training*/) { return ""; }
  // The classes in the order of their numbers; empty when there are none.
  virtual const LabelTable& labels() const = 0;

  // The sum of the weights of these rows: what the sum of losses is divided by, over the whole global batch.
  virtual double weight(const Dataset& dataset, std::span<const int64_t> rows) const = 0;

  // The head. Its parameters finish first in backward; build_head is called once, with a store that holds them.
  virtual EncoderOutput encoder_output() const = 0;
  virtual void append_head_specs(const EncoderConfig& config, std::vector<ParameterSpec>& specs) const = 0;
  virtual void build_head(const EncoderConfig& config, ParameterStore& store) = 0;
  virtual HeadDescription describe_head(const EncoderConfig& config) const = 0;

  // states: what encoder_output() asked for -> outputs, whose shape is the task's business; differentiable.
  virtual at::Tensor forward(const at::Tensor& states, const ForwardPass& pass) const = 0;
  // The sum over the rows of weight times loss: a differentiable scalar. `rows`: those of the pass, in its order.
  virtual at::Tensor loss_sum(const at::Tensor& outputs, const Dataset& dataset,
                              std::span<const int64_t> rows) const = 0;
  // Files the outputs of one pass by row.
  virtual void collect(const at::Tensor& outputs, const ForwardPass& pass, RowOutputs& all) const = 0;

  // Local and pure: all rows, in row order, in double precision.
  virtual Evaluation evaluate(const RowOutputs& outputs, const Dataset& dataset) const = 0;
  // The metric of eval.metric; "auto" is the task's choice. Throws ConfigError for one that the task does not have.
  virtual MetricChoice choose_metric(const std::string& wanted) const = 0;

  virtual std::vector<std::string> prediction_columns(const PredictionFormat& format) const = 0;
  virtual std::vector<std::string> prediction_cells(std::span<const double> outputs,
                                                    const PredictionFormat& format) const = 0;
};

inline void Evaluation::add_metric(const std::string& name, double value, const std::string& why_undefined) {
  if (std::isnan(value)) {
    undefined.emplace_back(name, why_undefined);
  } else {
    metrics.emplace_back(name, value);
  }
}

inline double Evaluation::metric(const std::string& name) const {
  for (const auto& [key, value] : metrics) {
    if (key == name) return value;
  }
  for (const auto& [key, reason] : undefined) {
    if (key == name) return std::numeric_limits<double>::quiet_NaN();
  }
  throw InternalError("the evaluation has no metric " + name);
}

inline bool MetricChoice::is_better(double now, double before) const {
  if (std::isnan(now) || std::isnan(before)) return std::isnan(before) && !std::isnan(now);
  return is_higher_better ? now > before : now < before;
}

}  // namespace bertft
