// The scores at the end of a run, taken from the models as they were written: what counts is what a user will load.
#pragma once

#include <functional>
#include <optional>

#include "tasks/row_outputs.h"
#include "tasks/task.h"
#include "train/build.h"
#include "train/model_folder_reader.h"
#include "train/run_dir.h"
#include "train/run_logs.h"
#include "train/train_state.h"

namespace bertft {

struct FinalScores {
  std::optional<Evaluation> dev;        // of the best model
  std::optional<Evaluation> test;       // of the best model
  std::optional<Evaluation> last_test;  // of the last model, when it is not the best
  double seconds = 0.0;
  OpenedModel best;
  std::optional<RowOutputs> dev_outputs;   // of the best model
  std::optional<RowOutputs> test_outputs;  // of the best model
};

// Collective. Reads the best model back, scores dev and test with it, and logs the test score. Nothing when
// `should_stop` said so on the way. Throws InternalError when the best model does not give the dev score it was chosen
// for (unless the run has moved between kinds of machine since).
std::optional<FinalScores> score_final_models(const TrainingJob& job, const RunDir& run_dir, const TrainState& state,
                                              RunLogs& logs, const std::function<bool()>& should_stop);

// Writes the predictions of dev and test. Last of all: the texts are read again, and a file that has changed meanwhile
// must not cost the results.
void write_final_predictions(const TrainingJob& job, const RunDir& run_dir, const FinalScores& scores);

}  // namespace bertft
