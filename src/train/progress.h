// Turns steps into log lines: loss, its window average, rates and the time left.
#pragma once

#include <cstdint>
#include <vector>

#include "core/timer.h"
#include "metrics/window_mean.h"
#include "train/run_logs.h"
#include "train/train_step.h"

namespace bertft {

struct ProgressSettings {
  int64_t total_steps = 0;
  int64_t steps_per_epoch = 0;
  int64_t log_every = 1;
  int64_t loss_window = 1;
};

class Progress {
 public:
  Progress(const ProgressSettings& settings, RunLogs& logs);

  // Goes on behind the steps of an earlier part of the run: their count, the time they took, the latest losses.
  void restore(int64_t steps_done, double training_s, const std::vector<double>& losses);
  // The losses of the window, oldest first.
  std::vector<double> losses() const { return window_.values(); }

  // After every step. Logs every log_every steps and after the last one; on a terminal also a line that is overwritten.
  void add(const StepResult& result, const Counters& comm);

  // Time between these two is not training: evaluation, saving.
  void pause();
  void resume();

  double training_s() const { return training_s_ + (is_paused_ ? 0.0 : timer_.seconds()); }

 private:
  StepLine line_for(const StepResult& result, const Counters& comm) const;
  std::string comm_text(const Counters& comm) const;

  ProgressSettings settings_;
  RunLogs& logs_;
  WindowMean window_;
  Timer timer_;              // since the last resume
  Timer since_shown_;        // of the overwritten line
  double training_s_ = 0.0;  // up to the last pause
  bool is_paused_ = false;
  double logged_at_s_ = 0.0;  // training_s() of the last logged line
  Counters comm_at_log_;
  int64_t rows_since_log_ = 0;
  int64_t tokens_since_log_ = 0;
  int64_t steps_done_ = 0;
};

}  // namespace bertft
