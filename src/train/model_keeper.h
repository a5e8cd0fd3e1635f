// Decides after each evaluation which model is the best, writes model folders, and counts evaluations without a gain.
// What it decides lives in the TrainState, so that a resumed run decides alike.
#pragma once

#include <optional>

#include "tasks/task.h"
#include "train/build.h"
#include "train/run_dir.h"
#include "train/state_store.h"
#include "train/train_state.h"

namespace bertft {

class ModelKeeper {
 public:
  // All must outlive this object.
  ModelKeeper(const TrainingJob& job, const RunDir& run_dir, const StateStore& store, TrainState& state);

  const MetricChoice& metric() const { return metric_; }

  // Takes an evaluation of dev after state.step steps (none without dev rows: then the newest model is the best),
  // writes the model (on rank 0) and points `last` and `best` to the right ones. Sets state.is_stopped_early when early
  // stopping says so. Returns whether this model is the best so far.
  bool take(const std::optional<Evaluation>& dev);

  // Removes the model folders that neither link nor any kept training state refers to. For rank 0.
  void prune() const;

 private:
  void write() const;
  bool is_better(const Evaluation& dev) const;
  void count_gain(const Evaluation& dev, bool is_first);

  const TrainingJob& job_;
  const RunDir& run_dir_;
  const StateStore& store_;
  TrainState& state_;
  MetricChoice metric_;
};

}  // namespace bertft
