#include "train/model_keeper.h"

#include <fmt/format.h>

#include <cmath>

#include "core/log.h"
#include "core/work_meter.h"
#include "train/model_folder_writer.h"

namespace bertft {
namespace {

// NaN for a metric that was undefined.
double value_of(const std::vector<std::pair<std::string, double>>& metrics, const std::string& name) {
  for (const auto& [key, value] : metrics) {
    if (key == name) return value;
  }
  return std::nan("");
}

// Whether `now` beats `before` by more than `margin`. A value that is not a number is beaten by every number.
bool beats(double now, double before, double margin, bool is_higher_better) {
  if (std::isnan(now)) return false;
  if (std::isnan(before)) return true;
  return is_higher_better ? now > before + margin : now < before - margin;
}

}  // namespace

ModelKeeper::ModelKeeper(const TrainingJob& job, const RunDir& run_dir, const StateStore& store, TrainState& state)
    : job_(job),
      run_dir_(run_dir),
      store_(store),
      state_(state),
      metric_(job.model->task().choose_metric(job.config.eval.metric)) {}

bool ModelKeeper::take(const std::optional<Evaluation>& dev) {
  const bool is_first = state_.best.step == 0;
  const bool is_best = !dev || is_better(*dev);
  if (dev) count_gain(*dev, is_first);
  state_.last_model_step = state_.step;
  if (is_best) {
    state_.best.step = state_.step;
    state_.best.metrics.clear();
    if (dev) state_.best.metrics = dev->metrics;
  }
  if (job_.world.rank == 0) write();
  return is_best;
}

void ModelKeeper::write() const {
  const WorkPhase phase("writing a model");
  write_model_folder(*job_.model, job_.settings, job_.tokenizer_source, run_dir_.model_path(state_.step));
  run_dir_.link_model("last", state_.last_model_step);
  run_dir_.link_model("best", state_.best.step);
  prune();
}

void ModelKeeper::prune() const {
  std::vector<int64_t> kept = store_.models_referred_to();
  kept.push_back(state_.best.step);
  kept.push_back(state_.last_model_step);
  run_dir_.prune_models(kept);
}

bool ModelKeeper::is_better(const Evaluation& dev) const {
  if (state_.best.step == 0) return true;
  const double before = value_of(state_.best.metrics, metric_.name);
  return beats(dev.metric(metric_.name), before, 0.0, metric_.is_higher_better);
}

void ModelKeeper::count_gain(const Evaluation& dev, bool is_first) {
  const EarlyStoppingOptions& options = job_.config.eval.early_stopping;
  if (!options.patience) return;
  const double now = dev.metric(metric_.name);
  if (is_first || beats(now, state_.early_stopping_best, options.min_delta, metric_.is_higher_better)) {
    state_.early_stopping_best = now;
    state_.evaluations_without_gain = 0;
    return;
  }
  ++state_.evaluations_without_gain;
  if (state_.evaluations_without_gain < *options.patience) return;
  state_.is_stopped_early = true;
  log::info(fmt::format("early stopping after step {}: {} evaluations without a gain in {} of more than {}",
                        state_.step, state_.evaluations_without_gain, metric_.name, options.min_delta));
}

}  // namespace bertft
