#include "train/options.h"

namespace bertft {

OptionTable run_option_table(RunOptions& options) {
  OptionTable table{
      "",
      {{.key = "task", .target = &options.task, .help = "what is learned", .choices = {"text_classification"}},
       {.key = "seed", .target = &options.seed, .help = "of order, dropout and new parameters", .min = 0},
       {.key = "deterministic",
        .target = &options.deterministic,
        .help = "no clock decides anything that can change a bit (this build is always deterministic)",
        .choices = {}},
       {.key = "device",
        .target = &options.device,
        .help = "where tensors are computed; auto: a CUDA device when there is one, else the CPU",
        .choices = {"auto", "cpu", "cuda"}},
       {.key = "precision",
        .target = &options.precision,
        .help =
            "of arithmetic; auto: fp32; bf16 rounds the inputs of matrix products; fp64 is for comparisons and slow",
        .choices = {"auto", "fp32", "bf16", "fp64"}},
       {.key = "threads",
        .target = &options.threads,
        .help = "compute threads",
        .min = 1,
        .max = 4096,
        .auto_rule = "the smaller of affinity mask and CPU quota, divided among the ranks that share them"}}};
  table.not_in_this_build["precision=fp16"] = "it needs CUDA; use fp32 or bf16";
  for (const char* task : {"text_matching", "sequence_labelling", "reading_comprehension", "masked_lm", "distillation",
                           "image_text", "text_generation"}) {
    table.not_in_this_build[std::string("task=") + task] = "use text_classification";
  }
  table.not_in_this_build["distill"] = "fine-tune the model by itself";
  return table;
}

OptionTable train_option_table(TrainOptions& options) {
  OptionTable table{
      "train",
      {{.key = "epochs", .target = &options.epochs, .help = "passes over the training rows", .min = 1, .max = 100000},
       {.key = "max_steps",
        .target = &options.max_steps,
        .help = "optimizer steps, instead of epochs",
        .unit = "steps",
        .min = 1,
        .max = 1 << 30,
        .auto_rule = "epochs times the steps of an epoch"},
       {.key = "stop_at_step",
        .target = &options.stop_at_step,
        .help = "save the training state after this step and end with exit code 7, to be resumed",
        .unit = "steps",
        .min = 1,
        .max = 1 << 30,
        .auto_rule = "train to the end",
        .auto_word = "none"},
       {.key = "global_batch_size",
        .target = &options.global_batch_size,
        .help = "rows of one optimizer step",
        .unit = "rows",
        .min = 1,
        .max = 1 << 30,
        .auto_rule = "32, or batch_size_per_rank times the processes"},
       {.key = "batch_size_per_rank",
        .target = &options.batch_size_per_rank,
        .help = "rows of one optimizer step and process, instead of global_batch_size",
        .unit = "rows",
        .min = 1,
        .max = 1 << 30,
        .auto_rule = "not used"},
       {.key = "micro_batch_tokens",
        .target = &options.micro_batch_tokens,
        .help = "tokens computed at once: a step with more is accumulated in pieces of whole rows",
        .unit = "tokens",
        .min = 1,
        .auto_rule = "16384"},
       {.key = "max_grad_norm",
        .target = &options.max_grad_norm,
        .help = "gradients with a larger global norm are scaled down to it; 0: no clipping",
        .min = 0.0},
       {.key = "label_smoothing",
        .target = &options.label_smoothing,
        .help = "share of the target that is spread evenly over all labels (single labels)",
        .min = 0.0,
        .max = 0.99},
       {.key = "class_weights",
        .target = &options.class_weights,
        .help =
            "weight of each label's rows in the loss (single labels): none, balanced (all labels count alike), or a "
            "map of labels to weights; labels not named weigh 1"}}};
  table.not_in_this_build = {
      {"cuda_graph", "there is no CUDA in this build"},
      {"on_divergence", "a non-finite loss or gradient stops the run"},
      {"loss", "cross-entropy is used"},
      {"seeds", "start one run per seed"},
      {"search", "start one run per setting"},
      {"stages", "start one run per stage"},
  };
  return table;
}

OptionTable eval_option_table(EvalOptions& options) {
  OptionTable table{"eval",
                    {{.key = "every",
                      .target = &options.every,
                      .help = "steps between evaluations of dev, which decide about the best model",
                      .unit = "steps",
                      .min = 1,
                      .max = 1 << 30,
                      .auto_rule = "at the end of each epoch",
                      .auto_word = "epoch"},
                     {.key = "metric",
                      .target = &options.metric,
                      .help = "which dev metric chooses the best model; auto: accuracy for single labels, micro_f1 for "
                              "several, pearson for real values",
                      .choices = {"auto", "accuracy", "macro_f1", "micro_f1", "weighted_f1", "samples_f1", "f1", "mcc",
                                  "auc", "pearson", "spearman", "mae", "hamming_loss", "calibration_error", "loss"}},
                     {.key = "batch_tokens",
                      .target = &options.batch_tokens,
                      .help = "tokens computed at once",
                      .unit = "tokens",
                      .min = 1,
                      .auto_rule = "8192"},
                     {.key = "early_stopping.patience",
                      .target = &options.early_stopping.patience,
                      .help = "end the training after this many evaluations in a row without a gain",
                      .unit = "evaluations",
                      .min = 1,
                      .max = 1 << 30,
                      .auto_rule = "train to the end",
                      .auto_word = "none"},
                     {.key = "early_stopping.min_delta",
                      .target = &options.early_stopping.min_delta,
                      .help = "how much better than before the metric must be to count as a gain",
                      .min = 0.0}}};
  return table;
}

OptionTable output_option_table(OutputOptions& options) {
  OptionTable table{
      "output",
      {{.key = "dir", .target = &options.dir, .help = "the run's folder", .kind = OptionKind::kPath},
       {.key = "checkpoint_every",
        .target = &options.checkpoint_every,
        .help = "steps between saves of the training state, from which --resume goes on",
        .unit = "steps",
        .min = 1,
        .max = 1 << 30,
        .auto_rule = "at the end of each epoch",
        .auto_word = "epoch"},
       {.key = "keep_checkpoints",
        .target = &options.keep_checkpoints,
        .help = "saved training states that are kept, the newest; 0: save only when a signal or stop_at_step asks",
        .unit = "states",
        .min = 0,
        .max = 1000000},
       {.key = "tensorboard", .target = &options.tensorboard, .help = "write event files for TensorBoard"},
       {.key = "log_every", .target = &options.log_every, .help = "steps between log lines", .unit = "steps", .min = 1},
       {.key = "loss_window",
        .target = &options.loss_window,
        .help = "steps over which loss_window averages",
        .unit = "steps",
        .min = 1,
        .max = 1000000},
       {.key = "predictions",
        .target = &options.predictions,
        .help = "write predictions of dev and test with the best model"}}};
  return table;
}

}  // namespace bertft
