#include "train/final_scores.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/log.h"
#include "core/timer.h"
#include "train/error_rows.h"
#include "train/evaluator.h"
#include "train/split_predictions.h"

namespace bertft {
namespace {

using Metrics = std::vector<std::pair<std::string, double>>;

bool are_equal(const Metrics& a, const Metrics& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool is_same_value = a[i].second == b[i].second || (std::isnan(a[i].second) && std::isnan(b[i].second));
    if (a[i].first != b[i].first || !is_same_value) return false;
  }
  return true;
}

// Scores a split and keeps what the model made of its rows. Nothing when `should_stop` said so.
std::optional<Evaluation> score(const ModelBundle& model, const Dataset& dataset, const TrainingJob& job,
                                const std::function<bool()>& should_stop, std::optional<RowOutputs>& outputs) {
  outputs =
      compute_outputs_together(model, dataset, job.resolved.eval_batch_tokens, should_stop, job.world, job.gather());
  if (!outputs) return std::nullopt;
  return model.task().evaluate(*outputs, dataset);
}

void log_test(const Evaluation& test, const TrainState& state, const TrainingJob& job, RunLogs& logs) {
  log::info(
      fmt::format("test with the best model (step {}): {}\n{}", state.best.step, metrics_line(test), test.report));
  logs.add(state.best.step, static_cast<double>(state.best.step) / static_cast<double>(job.resolved.steps_per_epoch),
           "test", test);
}

}  // namespace

std::optional<FinalScores> score_final_models(const TrainingJob& job, const RunDir& run_dir, const TrainState& state,
                                              RunLogs& logs, const std::function<bool()>& should_stop) {
  const Timer timer;
  std::optional<Evaluation> last_test;
  if (job.test && state.best.step != state.step) {
    std::optional<RowOutputs> unused;
    last_test = score(*job.model, *job.test, job, should_stop, unused);
    if (!last_test) return std::nullopt;
  }
  FinalScores scores = {.dev = {},
                        .test = {},
                        .last_test = std::move(last_test),
                        .seconds = 0.0,
                        .best = open_model(run_dir.best_path()),
                        .dev_outputs = {},
                        .test_outputs = {}};
  if (job.dev) {
    scores.dev = score(*scores.best.model, *job.dev, job, should_stop, scores.dev_outputs);
    if (!scores.dev) return std::nullopt;
    check(job.is_moved || are_equal(scores.dev->metrics, state.best.metrics),
          "the best model scores differently after it was read back");
  }
  if (job.test) {
    scores.test = score(*scores.best.model, *job.test, job, should_stop, scores.test_outputs);
    if (!scores.test) return std::nullopt;
    log_test(*scores.test, state, job, logs);
  }
  scores.seconds = timer.seconds();
  return scores;
}

void write_final_predictions(const TrainingJob& job, const RunDir& run_dir, const FinalScores& scores) {
  const auto write = [&](const char* split, const std::optional<Dataset>& dataset,
                         const std::optional<RowOutputs>& outputs, const std::optional<Evaluation>& evaluation,
                         const SplitFiles& files) {
    if (!dataset) return;
    write_split_predictions(run_dir.predictions_path(split), files, {*dataset, *outputs}, scores.best,
                            {.batch_tokens = job.resolved.eval_batch_tokens, .threads = job.resolved.threads});
    write_error_rows(run_dir.errors_path(split), run_dir.predictions_path(split),
                     {*dataset, evaluation->worst_errors, files.is_partial});
  };
  write("dev", job.dev, scores.dev_outputs, scores.dev, job.dev_files);
  write("test", job.test, scores.test_outputs, scores.test, job.test_files);
}

}  // namespace bertft
