#include "train/trainer.h"

#include <fmt/format.h>

#include <cstring>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/work_meter.h"
#include "optim/schedule.h"
#include "train/evaluator.h"
#include "train/final_scores.h"
#include "train/profile_report.h"
#include "train/step_dump.h"

namespace bertft {
namespace {

// Flags of Communicator::agree().
constexpr uint32_t kWantsSave = 1u;
constexpr uint32_t kWantsStop = 2u;

constexpr int64_t kDroppedStepsThatEndARun = 3;

StepSettings step_settings(const TrainingJob& job) {
  return {.seed = static_cast<uint64_t>(job.config.run.seed),
          .micro_batch_tokens = job.resolved.micro_batch_tokens,
          .max_grad_norm = job.config.train.max_grad_norm,
          .nan = job.config.comm.nan};
}

ProgressSettings progress_settings(const TrainingJob& job) {
  return {.total_steps = job.resolved.total_steps,
          .steps_per_epoch = job.resolved.steps_per_epoch,
          .log_every = job.config.output.log_every,
          .loss_window = job.config.output.loss_window};
}

RunLogs make_logs(const TrainingJob& job, const RunDir& run_dir, const TrainState& state) {
  if (job.world.rank != 0) return {};
  return {run_dir.metrics_path(), job.config.output.tensorboard ? run_dir.tensorboard_path() : "", state.logs};
}

bool is_due(const AutoInt& every, const GlobalBatch& batch) {
  return every ? batch.step % *every == 0 : batch.is_last_of_epoch;
}

}  // namespace

Trainer::Trainer(TrainingJob& job, const RunDir& run_dir, RunOwner* owner, const TrainRequests& requests,
                 TrainState state)
    : job_(job),
      run_dir_(run_dir),
      owner_(owner),
      requests_(requests),
      state_(std::move(state)),
      store_(run_dir.path()),
      keeper_(job, run_dir, store_, state_),
      logs_(make_logs(job, run_dir, state_)),
      progress_(progress_settings(job), logs_),
      step_(*job.model, job.train, *job.sampler, *job.communicator, *job.optimizer, job.world, step_settings(job)) {
  progress_.restore(state_.step, state_.train_s, state_.loss_window);
  if (!requests_.trace_path.empty()) trace_.emplace(trace_path(requests_.trace_path, job.world), state_.step + 1);
  if (requests_.has_profile && job.world.rank == 0) profile_.emplace(kProfileTracedSteps);
  profile_from_step_ = state_.step + 1 + kProfileWarmUpSteps;
  results_.labels = job.settings.labels;
  results_.metric = keeper_.metric().name;
}

// Two jobs in one folder break each other's files: what fails after a take-over is reported as that.
RunOutcome Trainer::run() try {
  if (state_.is_evaluation_pending && !close_step({.has_evaluation = true, .has_checkpoint = true})) return stopped();
  while (state_.step < job_.resolved.total_steps && !state_.is_stopped_early) {
    const StepResult result = run_step(state_.step + 1);
    after_step(result);
    if (!close_step(boundary(result.batch))) return stopped();
  }
  write_profile();
  if (!finish()) return stopped();
  return {.is_stopped = false, .stop_reason = "", .step = state_.step, .results = results_};
} catch (const Error&) {
  confirm_owner();
  throw;
}

StepResult Trainer::run_step(int64_t step) {
  const double peak = job_.config.optimizer.learning_rate;
  const double lr =
      peak * schedule_factor(job_.config.schedule, step, job_.resolved.warmup_steps, job_.resolved.total_steps, peak);
  step_.keep_logits(step == requests_.dump_step);
  const ProfileRecording recording(profile_ && step >= profile_from_step_ ? &*profile_ : nullptr);
  return step_.run(step, lr, [this](const StepResult& before_update) {
    if (before_update.batch.step != requests_.dump_step || job_.world.rank != 0) return;
    write_step_dump(requests_.dump_path, *job_.model, before_update);
  });
}

void Trainer::after_step(const StepResult& result) {
  state_.step = result.batch.step;
  state_.applied_steps = job_.optimizer->applied_steps();
  count_dropped(result);
  if (state_.step == 1) state_.first_step_s = seconds_since_exec();
  state_.rows_done += static_cast<int64_t>(result.batch.rows.size());
  state_.tokens_done += result.tokens;
  if (trace_) trace_->add(result, job_.communicator->rank(), job_.model->store());
  progress_.add(result, job_.communicator->counters());
}

// A single bad batch passes; a model that has diverged does not come back.
void Trainer::count_dropped(const StepResult& result) {
  state_.dropped_in_a_row = result.is_dropped ? state_.dropped_in_a_row + 1 : 0;
  if (state_.dropped_in_a_row < kDroppedStepsThatEndARun) return;
  throw_alike(
      job_.world, ExitCode::kDiverged,
      fmt::format("step {}: the gradient was not finite in {} steps in a row; the weights are those of before. "
                  "Lower optimizer.learning_rate or lengthen the warm-up, and go on from an earlier saved state "
                  "or begin anew",
                  result.batch.step, state_.dropped_in_a_row));
}

Trainer::Boundary Trainer::boundary(const GlobalBatch& batch) const {
  const bool is_final = batch.step == job_.resolved.total_steps;
  return {.has_evaluation = is_final || is_due(job_.config.eval.every, batch),
          .has_checkpoint = is_final || is_due(job_.config.output.checkpoint_every, batch),
          .has_stop = !is_final && batch.step == job_.config.train.stop_at_step};
}

// Evaluates and saves as far as it is due or asked for. Returns false when the run stops here; its state is saved then.
bool Trainer::close_step(const Boundary& due) {
  if (owner_ != nullptr) owner_->require_owned();
  progress_.pause();
  state_.is_evaluation_pending = due.has_evaluation && !evaluate_and_keep();
  const SignalRequests asked = requests_of_all_ranks();
  const bool stops = due.has_stop || asked.wants_stop;
  const bool keeps_states = job_.config.output.keep_checkpoints > 0;
  if (stops || asked.wants_save || (keeps_states && (due.has_checkpoint || state_.is_stopped_early))) save_state();
  if (stops) stop_reason_ = asked.wants_stop ? ::strsignal(asked.stop_signal) : "train.stop_at_step";
  progress_.resume();
  return !stops;
}

// Returns false when a request to stop cut the evaluation short; nothing was kept then.
bool Trainer::evaluate_and_keep() {
  std::optional<Evaluation> dev;
  if (job_.dev) {
    const Timer timer;
    const auto outputs = compute_outputs_together(*job_.model, *job_.dev, job_.resolved.eval_batch_tokens,
                                                  SignalWatch::is_stop_requested, job_.world, job_.gather());
    if (!outputs) return false;
    dev = job_.model->task().evaluate(*outputs, *job_.dev);
    state_.evaluate_s += timer.seconds();
    logs_.add(state_.step, epoch_of(state_.step), "dev", *dev);
  }
  confirm_owner();
  const bool is_best = keeper_.take(dev);
  if (dev) {
    log::info(
        fmt::format("dev after step {}: {}{}", state_.step, metrics_line(*dev), is_best ? "  (best so far)" : ""));
  }
  return true;
}

// Rank 0 writes; the others wait, so that no rank goes on or ends before the state is there.
void Trainer::save_state() {
  const Timer timer;
  confirm_owner();
  state_.train_s = progress_.training_s();
  state_.loss_window = progress_.losses();
  const WorkPhase phase("saving the training state");
  state_.logs = logs_.sync();
  if (job_.world.rank == 0) {
    store_.save(state_, *job_.model, *job_.optimizer, job_.config.output.keep_checkpoints);
    keeper_.prune();
  }
  job_.communicator->barrier();
  log::info(fmt::format("training state after step {} saved in {:.1f} s: {}", state_.step, timer.seconds(),
                        store_.path(state_.step)));
}

// What was written is what counts: the best model is read back, must give the same dev score, and scores the test rows.
// Returns false when a request to stop came before all was done; the state is saved then.
bool Trainer::finish() {
  progress_.pause();
  confirm_owner();
  job_.communicator->barrier();  // the models are written
  state_.train_s = progress_.training_s();
  const std::optional<FinalScores> scores =
      score_final_models(job_, run_dir_, state_, logs_, SignalWatch::is_stop_requested);
  if (!scores) {
    const SignalRequests asked = requests_of_all_ranks();
    stop_reason_ = ::strsignal(asked.stop_signal);
    if (job_.config.output.keep_checkpoints == 0) save_state();
    return false;
  }
  results_.steps = state_.step;
  results_.best_step = state_.best.step;
  results_.dev = scores->dev;
  results_.test = scores->test;
  results_.last_test = scores->last_test;
  RunTimings& timings = results_.timings;
  timings.first_step_s = state_.first_step_s;
  timings.train_s = state_.train_s;
  timings.evaluate_s = state_.evaluate_s + scores->seconds;
  timings.samples_per_s = static_cast<double>(state_.rows_done) / state_.train_s;
  timings.tokens_per_s = static_cast<double>(state_.tokens_done) / state_.train_s;
  timings.total_s = seconds_since_exec();
  results_.comm = job_.communicator->counters();
  if (job_.world.rank == 0) {
    const WorkPhase phase("writing results");
    write_file_atomically(run_dir_.results_path(), results_json(results_));
    if (job_.config.output.predictions) write_final_predictions(job_, run_dir_, *scores);
  }
  job_.communicator->barrier();
  return true;
}

// What any rank was asked for counts for all.
SignalRequests Trainer::requests_of_all_ranks() {
  const SignalRequests asked = signals_.take();
  const uint32_t flags = (asked.wants_save ? kWantsSave : 0u) | (asked.wants_stop ? kWantsStop : 0u);
  const Agreement all =
      job_.communicator->agree({.flags = flags, .min = 0.0, .max = static_cast<double>(asked.stop_signal)});
  return {(all.flags & kWantsSave) != 0, (all.flags & kWantsStop) != 0, static_cast<int>(all.max)};
}

void Trainer::confirm_owner() {
  if (owner_ != nullptr) owner_->confirm();
}

void Trainer::write_profile() const {
  if (!profile_) return;
  write_file_atomically(run_dir_.profile_path(), profile_trace(*profile_));
  log::info(profile_text(*profile_) + "\ntrace of " + std::to_string(kProfileTracedSteps) +
            " steps, for chrome://tracing or Perfetto: " + run_dir_.profile_path());
}

RunOutcome Trainer::stopped() const {
  write_profile();
  return {.is_stopped = true, .stop_reason = stop_reason_, .step = state_.step, .results = {}};
}

double Trainer::epoch_of(int64_t step) const {
  return static_cast<double>(step) / static_cast<double>(job_.resolved.steps_per_epoch);
}

}  // namespace bertft
