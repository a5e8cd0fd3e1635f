// The options of sections `optimizer` and `schedule`.
#pragma once

#include <string>

#include "core/option_table.h"

namespace bertft {

struct OptimizerOptions {
  std::string type = "adamw";
  double learning_rate = 5e-5;  // peak; lower it for larger models, raise it with the batch
  DoublePair betas = {0.9, 0.999};
  double epsilon = 1e-8;
  double momentum = 0.0;       // of sgd, 0 as in torch.optim.SGD; 0.9 is usual
  double weight_decay = 0.01;  // decoupled for adamw and lamb, else coupled; never on biases and LayerNorm
  double layer_decay = 1.0;    // each layer below the head learns by this factor slower; 0.65 to 0.95 is usual
  bool bias_correction = true;
};

struct ScheduleOptions {
  std::string type = "linear";
  double warmup_ratio = 0.1;  // of all steps; ignored when warmup_steps is given
  AutoInt warmup_steps = {};
  double power = 1.0;               // of polynomial
  double end_learning_rate = 1e-7;  // of polynomial
};

// Rules between these options: what only another type takes must keep its default. Throws ConfigError naming the keys.
void check_optimizer_options(const OptimizerOptions& optimizer, const ScheduleOptions& schedule);

OptionTable optimizer_option_table(OptimizerOptions& options);
OptionTable schedule_option_table(ScheduleOptions& options);

}  // namespace bertft
