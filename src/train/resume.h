// Going on with a run: which saved state, whether the configuration and the data are still those of the run, and how
// model, optimizer and state are brought back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "config/run_config.h"
#include "train/build.h"
#include "train/run_dir.h"
#include "train/state_store.h"
#include "train/train_state.h"

namespace bertft {

// What --resume=PATH names.
struct ResumePlace {
  std::string run;              // the folder of the run
  std::optional<int64_t> step;  // when PATH is one of its saved states; else the newest whole one counts
};

// PATH is a run's folder or RUN/checkpoints/step_N. Throws ConfigError when it is neither.
ResumePlace find_resume_place(const std::string& path);

// The state to go on from; nothing when the run has none, which is said in the log. Throws CheckpointError when a step
// was named whose state is missing or damaged.
std::optional<SavedState> find_saved_state(const ResumePlace& place);

// Prepares the configuration of the resumed run: what "auto" stood for is taken from the saved run. Throws ConfigError
// that lists every key whose value would make it another run.
void adopt_saved_run(const TrainState& saved, RunConfig& config);

// The state of a run that begins: step 0, with what a later resume compares.
TrainState initial_state(TrainingJob& job);

// Brings the saved tensors into `job` and returns the state to go on from. Throws ConfigError when the data are others
// than those of the run, CheckpointError when the model is. Warns when the machine is of another kind.
TrainState restore_run(const SavedState& saved, TrainingJob& job);

}  // namespace bertft
