// The training loop: steps, logs, evaluation each epoch, best and last model, and what is written at the end.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/timer.h"
#include "train/build.h"
#include "train/metrics_log.h"
#include "train/model_folder_reader.h"
#include "train/progress.h"
#include "train/results.h"
#include "train/run_dir.h"
#include "train/trace.h"
#include "train/train_step.h"

namespace bertft {

// What the command line may ask for beside the configuration.
struct TrainRequests {
  std::string trace_path;  // "" = none
  int64_t dump_step = 0;   // 0 = none
  std::string dump_path;
};

class Trainer {
 public:
  // `job` and `run_dir` (created) must outlive this object.
  Trainer(TrainingJob& job, const RunDir& run_dir, const TrainRequests& requests);

  // Trains to the end and writes results and predictions. Throws DivergedError and ResourceError.
  RunResults run();

 private:
  void after_step(const StepResult& result);
  void evaluate_and_save(const StepResult& result);
  bool is_better(const Evaluation& dev) const;
  void finish();
  void score_best(const OpenedModel& best);
  void write_split_files(const OpenedModel& best) const;
  Evaluation timed_evaluation(const ModelBundle& model, const Dataset& dataset);

  TrainingJob& job_;
  const RunDir& run_dir_;
  TrainRequests requests_;
  MetricChoice metric_;
  MetricsLog metrics_log_;
  Progress progress_;
  TrainStep step_;
  std::optional<Trace> trace_;
  RunResults results_;
  std::optional<RowOutputs> dev_outputs_;   // of the best model
  std::optional<RowOutputs> test_outputs_;  // of the best model
  int64_t rows_done_ = 0;
  int64_t tokens_done_ = 0;
};

}  // namespace bertft
