// results.json: what a run, or an evaluation, came to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "tasks/task.h"

namespace bertft {

struct RunTimings {
  double first_step_s = 0.0;  // from exec to the end of the first optimizer step
  double train_s = 0.0;       // steps alone
  double evaluate_s = 0.0;
  double total_s = 0.0;  // from exec
  double samples_per_s = 0.0;
  double tokens_per_s = 0.0;
};

struct RunResults {
  int64_t steps = 0;
  int64_t best_step = 0;
  std::string metric;                   // that chose the best model
  std::optional<Evaluation> dev;        // of the best model
  std::optional<Evaluation> test;       // of the best model
  std::optional<Evaluation> last_test;  // of the last model, when it is not the best
  std::vector<std::string> labels;
  RunTimings timings;
  Counters comm;  // of this rank, in this process
};

std::string results_json(const RunResults& results);

// One evaluation with metrics, per-class report and confusion matrix: `evaluate` writes this.
std::string evaluation_json(const Evaluation& evaluation, const std::vector<std::string>& labels);

}  // namespace bertft
