// What a run is at a step boundary beside its tensors: where it stands, what was best, and how far its logs reach. With
// weights and moments it is all that a resumed run needs to go on as if it had never stopped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "train/run_logs.h"

namespace bertft {

// The best evaluation so far; step 0 = there was none.
struct BestSoFar {
  int64_t step = 0;
  std::vector<std::pair<std::string, double>> metrics;  // of dev, as it was scored; empty without dev rows
};

struct TrainState {
  int64_t step = 0;                    // steps that are done
  int64_t applied_steps = 0;           // of them, those whose update was applied: the count of bias correction
  bool is_evaluation_pending = false;  // the evaluation that belongs to `step` was not made yet
  bool is_stopped_early = false;       // early stopping has ended the run
  int64_t dropped_in_a_row = 0;        // steps up to this one whose gradient was not finite
  BestSoFar best;
  int64_t last_model_step = 0;           // of the link `last`; 0 = no model was written yet
  int64_t evaluations_without_gain = 0;  // in a row, as early stopping counts them
  double early_stopping_best = 0.0;      // the value that the next evaluation has to beat
  std::vector<double> loss_window;       // the latest losses, oldest first
  int64_t rows_done = 0;
  int64_t tokens_done = 0;
  double train_s = 0.0;  // spent in steps
  double evaluate_s = 0.0;
  double first_step_s = 0.0;
  uint64_t layout_hash = 0;
  LogPositions logs;
  std::map<std::string, std::string> config;       // full key -> value as YAML writes it
  std::map<std::string, std::string> resolved;     // what "auto" was resolved to
  std::map<std::string, std::string> data_hashes;  // split -> hash of its files' content
};

// JSON; numbers survive the way exactly.
std::string train_state_text(const TrainState& state);
// Throws CheckpointError naming `path` for anything that train_state_text does not write.
TrainState parse_train_state(const std::string& text, const std::string& path);

}  // namespace bertft
