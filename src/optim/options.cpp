#include "optim/options.h"

namespace bertft {

OptionTable optimizer_option_table(OptimizerOptions& options) {
  OptionTable table{"optimizer",
                    {{.key = "type", .target = &options.type, .help = "update rule", .choices = {"adamw"}},
                     {.key = "learning_rate",
                      .target = &options.learning_rate,
                      .help = "peak learning rate",
                      .min = 0.0,
                      .max = 10.0},
                     {.key = "betas",
                      .target = &options.betas,
                      .help = "decay rates of the two moments",
                      .min = 0.0,
                      .max = 0.9999999},
                     {.key = "eps",
                      .target = &options.epsilon,
                      .help = "added to the root of the second moment",
                      .min = 1e-15,
                      .max = 1.0},
                     {.key = "weight_decay",
                      .target = &options.weight_decay,
                      .help = "decoupled decay of matrices and tables; biases and LayerNorm never decay",
                      .min = 0.0,
                      .max = 10.0},
                     {.key = "bias_correction",
                      .target = &options.bias_correction,
                      .help = "correct the moments for their zero start"}}};
  for (const char* type : {"lamb", "adam", "sgd"}) {
    table.not_in_this_build[std::string("type=") + type] = "use adamw";
  }
  table.not_in_this_build["layer_decay"] = "all layers use optimizer.learning_rate";
  return table;
}

OptionTable schedule_option_table(ScheduleOptions& options) {
  OptionTable table{"schedule",
                    {{.key = "type",
                      .target = &options.type,
                      .help = "how the learning rate falls after warm-up",
                      .choices = {"linear"}},
                     {.key = "warmup_ratio",
                      .target = &options.warmup_ratio,
                      .help = "share of all steps during which the rate rises from 0 (rounded up to a step)",
                      .min = 0.0,
                      .max = 1.0},
                     {.key = "warmup_steps",
                      .target = &options.warmup_steps,
                      .help = "steps during which the rate rises from 0, instead of warmup_ratio",
                      .unit = "steps",
                      .min = 0.0,
                      .auto_rule = "warmup_ratio of all steps"}}};
  for (const char* type : {"cosine", "constant", "polynomial"}) {
    table.not_in_this_build[std::string("type=") + type] = "use linear";
  }
  return table;
}

}  // namespace bertft
