#include "optim/options.h"

#include <fmt/format.h>

#include "core/error.h"

namespace bertft {

void check_optimizer_options(const OptimizerOptions& optimizer, const ScheduleOptions& schedule) {
  const OptimizerOptions defaults;
  if (optimizer.type != "sgd" && optimizer.momentum != defaults.momentum) {
    throw ConfigError(fmt::format(
        "optimizer.momentum ({}) is taken by optimizer.type sgd only, and the type is {}: its momentum is betas[0]",
        optimizer.momentum, optimizer.type));
  }
  if (optimizer.type == "sgd") {
    const auto refuse = [](const char* key) {
      throw ConfigError(fmt::format(
          "optimizer.{} does nothing with optimizer.type sgd, which has optimizer.momentum. Leave {} out", key, key));
    };
    if (optimizer.betas != defaults.betas) refuse("betas");
    if (optimizer.epsilon != defaults.epsilon) refuse("eps");
    if (optimizer.bias_correction != defaults.bias_correction) refuse("bias_correction");
  }
  const ScheduleOptions other;
  if (schedule.type != "polynomial") {
    const auto refuse = [&](const char* key) {
      throw ConfigError(
          fmt::format("schedule.{} is taken by schedule.type polynomial only, and the type is {}", key, schedule.type));
    };
    if (schedule.power != other.power) refuse("power");
    if (schedule.end_learning_rate != other.end_learning_rate) refuse("end_learning_rate");
  } else if (schedule.end_learning_rate >= optimizer.learning_rate && optimizer.learning_rate > 0.0) {
    throw ConfigError(fmt::format("schedule.end_learning_rate ({}) must be below optimizer.learning_rate ({})",
                                  schedule.end_learning_rate, optimizer.learning_rate));
  }
}

OptionTable optimizer_option_table(OptimizerOptions& options) {
  return {"optimizer",
          {{.key = "type", .target = &options.type, .help = "update rule", .choices = {"adamw", "lamb", "adam", "sgd"}},
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
           {.key = "momentum",
            .target = &options.momentum,
            .help = "of sgd: share of the last step's direction that is kept",
            .min = 0.0,
            .max = 0.9999999},
           {.key = "weight_decay",
            .target = &options.weight_decay,
            .help = "of matrices and tables, never of biases and LayerNorm; decoupled for adamw and lamb, added "
                    "to the gradient for adam and sgd",
            .min = 0.0,
            .max = 10.0},
           {.key = "layer_decay",
            .target = &options.layer_decay,
            .help = "factor on the learning rate for each layer below the head; 1: all learn alike",
            .min = 0.01,
            .max = 1.0},
           {.key = "bias_correction",
            .target = &options.bias_correction,
            .help = "correct the moments for their zero start"}}};
}

OptionTable schedule_option_table(ScheduleOptions& options) {
  return {"schedule",
          {{.key = "type",
            .target = &options.type,
            .help = "how the learning rate falls after warm-up",
            .choices = {"linear", "cosine", "constant", "polynomial"}},
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
            .auto_rule = "warmup_ratio of all steps"},
           {.key = "power",
            .target = &options.power,
            .help = "of polynomial: exponent of the share of steps that is left",
            .min = 0.01,
            .max = 100.0},
           {.key = "end_learning_rate",
            .target = &options.end_learning_rate,
            .help = "of polynomial: the rate behind the last step, below optimizer.learning_rate",
            .min = 0.0,
            .max = 10.0}}};
}

}  // namespace bertft
