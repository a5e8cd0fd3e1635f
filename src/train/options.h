// The options of the top level and of sections `train`, `eval` and `output`.
#pragma once

#include <string>

#include "core/option_table.h"

namespace bertft {

struct RunOptions {
  std::string task = "text_classification";
  int64_t seed = 42;
  bool deterministic = true;
  std::string device = "auto";
  std::string precision = "auto";
  AutoInt threads;
};

struct TrainOptions {
  int64_t epochs = 3;
  AutoInt max_steps;          // instead of epochs
  AutoInt stop_at_step;       // save the training state there and end, to be resumed; none = go to the end
  AutoInt global_batch_size;  // rows of one optimizer step; 32 unless batch_size_per_rank is given
  AutoInt batch_size_per_rank;
  AutoInt micro_batch_tokens;  // tokens computed at once; bounds memory, changes no result beyond summation order
  double max_grad_norm = 1.0;  // 0: no clipping
  double label_smoothing = 0.0;
  TextOrMap class_weights = {"none", {}};
};

struct EarlyStoppingOptions {
  AutoInt patience;        // evaluations in a row without a gain; none = train to the end
  double min_delta = 0.0;  // what a gain has to exceed
};

struct EvalOptions {
  AutoInt every;  // steps; none = at the end of each epoch
  EarlyStoppingOptions early_stopping;
  std::string metric = "auto";
  AutoInt batch_tokens;
};

struct OutputOptions {
  std::string dir;
  AutoInt checkpoint_every;      // steps; none = at the end of each epoch
  int64_t keep_checkpoints = 2;  // training states; 0 = only those that a signal or stop_at_step asks for
  bool tensorboard = true;
  int64_t log_every = 50;
  int64_t loss_window = 100;
  bool predictions = true;
};

constexpr int64_t kDefaultGlobalBatch = 32;
// The rules behind the two "auto" token limits: a constant each, so that no result depends on the machine.
constexpr int64_t kDefaultMicroBatchTokens = 16384;
constexpr int64_t kDefaultEvalBatchTokens = 8192;

OptionTable run_option_table(RunOptions& options);
OptionTable train_option_table(TrainOptions& options);
OptionTable eval_option_table(EvalOptions& options);
OptionTable output_option_table(OutputOptions& options);

}  // namespace bertft
