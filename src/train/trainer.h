// The training loop: steps, logs, evaluations, saved states, and what is written at the end. It stops between two steps
// when it is told to, and a run that goes on from a saved state gives the same bits as one that never stopped.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/profile.h"
#include "core/timer.h"
#include "train/build.h"
#include "train/model_keeper.h"
#include "train/owner.h"
#include "train/progress.h"
#include "train/results.h"
#include "train/run_dir.h"
#include "train/run_logs.h"
#include "train/signals.h"
#include "train/state_store.h"
#include "train/trace.h"
#include "train/train_state.h"
#include "train/train_step.h"

namespace bertft {

// What the command line may ask for beside the configuration.
struct TrainRequests {
  std::string trace_path;  // "" = none
  int64_t dump_step = 0;   // 0 = none
  std::string dump_path;
  bool has_profile = false;  // on rank 0
};

// How run() came to its end.
struct RunOutcome {
  bool is_stopped = false;  // the state is saved, and the run can be resumed
  std::string stop_reason;  // "SIGTERM", "train.stop_at_step"
  int64_t step = 0;         // the last one that is done
  RunResults results;       // of a run that was not stopped
};

class Trainer {
 public:
  // `job` (connected), `run_dir` (created, or that of the saved run) and `owner` must outlive this object. `state`:
  // where to begin; model and optimizer hold its tensors. `owner`: null on ranks other than 0, which write nothing but
  // their log and trace.
  Trainer(TrainingJob& job, const RunDir& run_dir, RunOwner* owner, const TrainRequests& requests, TrainState state);

  // Trains to the end and writes results and predictions, or stops and saves. Throws DivergedError and ResourceError.
  RunOutcome run();

 private:
  // What is due at the end of a step.
  struct Boundary {
    bool has_evaluation = false;
    bool has_checkpoint = false;
    bool has_stop = false;
  };

  StepResult run_step(int64_t step);
  void count_dropped(const StepResult& result);
  void after_step(const StepResult& result);
  Boundary boundary(const GlobalBatch& batch) const;
  bool close_step(const Boundary& due);
  bool evaluate_and_keep();
  void save_state();
  SignalRequests requests_of_all_ranks();
  void confirm_owner();
  void write_profile() const;
  bool finish();
  RunOutcome stopped() const;
  double epoch_of(int64_t step) const;

  TrainingJob& job_;
  const RunDir& run_dir_;
  RunOwner* owner_;
  TrainRequests requests_;
  TrainState state_;
  StateStore store_;
  ModelKeeper keeper_;
  RunLogs logs_;
  Progress progress_;
  TrainStep step_;
  SignalWatch signals_;
  std::optional<Trace> trace_;
  std::optional<Profile> profile_;
  int64_t profile_from_step_ = 0;
  std::string stop_reason_;
  RunResults results_;
};

}  // namespace bertft
