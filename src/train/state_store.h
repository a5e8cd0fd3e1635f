// The saved training states of a run: checkpoints/step_00000500/ each, complete or not there at all. Knows which are
// whole, brings one back into model and optimizer, and removes old ones only when a newer one stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/state_folder.h"
#include "optim/optimizer.h"
#include "train/model_bundle.h"
#include "train/train_state.h"

namespace bertft {

// A state that was read and found whole; its tensors stay in the file until they are restored.
struct SavedState {
  TrainState state;
  StateFolder folder;
};

class StateStore {
 public:
  // `run`: the folder of the run.
  explicit StateStore(const std::string& run) : folder_(run + "/checkpoints") {}

  std::string path(int64_t step) const;
  // The steps of all folders that carry the name of a state, ascending, whole or not.
  std::vector<int64_t> steps() const;

  // The newest whole state; damaged ones are skipped with a warning. Nothing when there is none.
  std::optional<SavedState> newest() const;
  // The state of one step. Throws CheckpointError when it is missing or damaged.
  SavedState at(int64_t step) const;

  // Writes the state of state.step, then removes all but the newest `keep` (at least that one stays) and those of later
  // steps, which belong to a course that was given up.
  void save(const TrainState& state, const ModelBundle& model, Optimizer& optimizer, int64_t keep) const;

  // The model folders (models/step_*) that the kept states refer to.
  std::vector<int64_t> models_referred_to() const;

 private:
  void prune(int64_t newest_step, int64_t keep) const;
  std::string folder_;
};

// Copies weights and moments of a saved state into a run that was built alike. Throws CheckpointError when its layout
// is another one.
void restore(const SavedState& saved, ModelBundle& model, Optimizer& optimizer);

}  // namespace bertft
