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
  double weight_decay = 0.01;  // decoupled; never on biases and LayerNorm
  bool bias_correction = true;
};

struct ScheduleOptions {
  std::string type = "linear";
  double warmup_ratio = 0.1;  // of all steps; ignored when warmup_steps is given
  AutoInt warmup_steps;
};

OptionTable optimizer_option_table(OptimizerOptions& options);
OptionTable schedule_option_table(ScheduleOptions& options);

}  // namespace bertft
