#include "train/trainer.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "optim/schedule.h"
#include "train/evaluator.h"
#include "train/model_folder_writer.h"
#include "train/split_predictions.h"
#include "train/step_dump.h"

namespace bertft {
namespace {

StepSettings step_settings(const TrainingJob& job) {
  return {.seed = static_cast<uint64_t>(job.config.run.seed),
          .micro_batch_tokens = job.resolved.micro_batch_tokens,
          .max_grad_norm = job.config.train.max_grad_norm};
}

}  // namespace

Trainer::Trainer(TrainingJob& job, const RunDir& run_dir, const TrainRequests& requests)
    : job_(job),
      run_dir_(run_dir),
      requests_(requests),
      metric_(job.model->task().choose_metric(job.config.eval.metric)),
      metrics_log_(run_dir.metrics_path()),
      progress_({.total_steps = job.resolved.total_steps,
                 .steps_per_epoch = job.resolved.steps_per_epoch,
                 .log_every = job.config.output.log_every,
                 .loss_window = job.config.output.loss_window},
                metrics_log_),
      step_(*job.model, job.train, *job.sampler, *job.communicator, *job.optimizer, step_settings(job)) {
  if (!requests_.trace_path.empty()) trace_.emplace(requests_.trace_path);
  results_.labels = job.settings.labels;
  results_.metric = metric_.name;
}

RunResults Trainer::run() {
  const ResolvedRun& resolved = job_.resolved;
  const double peak = job_.config.optimizer.learning_rate;
  for (int64_t step = 1; step <= resolved.total_steps; ++step) {
    const double lr =
        peak * schedule_factor(job_.config.schedule, step, resolved.warmup_steps, resolved.total_steps, peak);
    step_.keep_logits(step == requests_.dump_step);
    const StepResult result = step_.run(step, lr, [this](const StepResult& before_update) {
      if (before_update.batch.step == requests_.dump_step) {
        write_step_dump(requests_.dump_path, *job_.model, before_update);
      }
    });
    after_step(result);
    if (result.batch.is_last_of_epoch || step == resolved.total_steps) evaluate_and_save(result);
  }
  finish();
  return results_;
}

void Trainer::after_step(const StepResult& result) {
  results_.steps = result.batch.step;
  if (results_.steps == 1) results_.timings.first_step_s = seconds_since_exec();
  rows_done_ += static_cast<int64_t>(result.batch.rows.size());
  tokens_done_ += result.tokens;
  if (trace_) trace_->add(result, job_.communicator->rank(), job_.model->store());
  progress_.add(result, job_.communicator->counters());
}

void Trainer::evaluate_and_save(const StepResult& result) {
  progress_.pause();
  const int64_t step = result.batch.step;
  bool is_best = true;
  if (job_.dev) {
    const Evaluation dev = timed_evaluation(*job_.model, *job_.dev);
    const double epoch = static_cast<double>(step) / static_cast<double>(job_.resolved.steps_per_epoch);
    metrics_log_.add(step, epoch, "dev", dev);
    is_best = is_better(dev);
    log::info(fmt::format("dev after step {}: {}{}", step, metrics_line(dev), is_best ? "  (best so far)" : ""));
    if (is_best) results_.dev = dev;
  }
  write_model_folder(*job_.model, job_.settings, job_.tokenizer_source, run_dir_.model_path(step));
  if (is_best) results_.best_step = step;
  run_dir_.link_model("last", step);
  run_dir_.link_model("best", results_.best_step);
  run_dir_.prune_models(results_.best_step, step);
  progress_.resume();
}

bool Trainer::is_better(const Evaluation& dev) const {
  if (!results_.dev) return true;
  return metric_.is_better(dev.metric(metric_.name), results_.dev->metric(metric_.name));
}

void Trainer::finish() {
  progress_.pause();
  if (job_.test && results_.best_step != results_.steps) results_.last_test = timed_evaluation(*job_.model, *job_.test);
  const OpenedModel best = open_model(run_dir_.best_path());
  score_best(best);
  RunTimings& timings = results_.timings;
  timings.train_s = progress_.training_s();
  timings.samples_per_s = static_cast<double>(rows_done_) / timings.train_s;
  timings.tokens_per_s = static_cast<double>(tokens_done_) / timings.train_s;
  timings.total_s = seconds_since_exec();
  results_.comm_exposed_s = job_.communicator->counters().exposed_s;
  write_file_atomically(run_dir_.results_path(), results_json(results_));
  if (job_.config.output.predictions) write_split_files(best);
}

// What was written is what counts: the best model is read back, must give the same dev score, and scores the test rows.
void Trainer::score_best(const OpenedModel& best) {
  const auto score = [&](const Dataset& dataset, std::optional<RowOutputs>& outputs) {
    const Timer timer;
    outputs = compute_outputs(*best.model, dataset, job_.resolved.eval_batch_tokens);
    results_.timings.evaluate_s += timer.seconds();
    return best.model->task().evaluate(*outputs, dataset);
  };
  if (job_.dev) {
    const Evaluation again = score(*job_.dev, dev_outputs_);
    check(again.metrics == results_.dev->metrics, "the best model scores differently after it was read back");
  }
  if (job_.test) {
    results_.test = score(*job_.test, test_outputs_);
    log::info(fmt::format("test with the best model (step {}): {}\n{}", results_.best_step,
                          metrics_line(*results_.test), results_.test->report));
    metrics_log_.add(results_.best_step,
                     static_cast<double>(results_.best_step) / static_cast<double>(job_.resolved.steps_per_epoch),
                     "test", *results_.test);
  }
}

// Last of all: the texts are read again, and a file that has changed meanwhile must not cost the results.
void Trainer::write_split_files(const OpenedModel& best) const {
  const auto write = [&](const char* split, const std::optional<Dataset>& dataset,
                         const std::optional<RowOutputs>& outputs, const SplitFiles& files) {
    if (!dataset) return;
    write_split_predictions(run_dir_.predictions_path(split), files, {*dataset, *outputs}, best,
                            {.batch_tokens = job_.resolved.eval_batch_tokens, .threads = job_.resolved.threads});
  };
  write("dev", job_.dev, dev_outputs_, job_.dev_files);
  write("test", job_.test, test_outputs_, job_.test_files);
}

Evaluation Trainer::timed_evaluation(const ModelBundle& model, const Dataset& dataset) {
  const Timer timer;
  Evaluation evaluation = evaluate(model, dataset, job_.resolved.eval_batch_tokens);
  results_.timings.evaluate_s += timer.seconds();
  return evaluation;
}

}  // namespace bertft
