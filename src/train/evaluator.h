// Computes a model's outputs for every row of a data set, without dropout and without gradients.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "data/dataset.h"
#include "tasks/row_outputs.h"
#include "train/model_bundle.h"
#include "train/ranks.h"

namespace bertft {

// Throws DivergedError when an output is not finite. Micro-batches depend on the lengths of the rows and `batch_tokens`
// alone, so the outputs do, too.
RowOutputs compute_outputs(const ModelBundle& model, const Dataset& dataset, int64_t batch_tokens);

// The same, unless `should_stop`, which is asked between micro-batches, says true: then nothing.
std::optional<RowOutputs> compute_outputs_unless(const ModelBundle& model, const Dataset& dataset, int64_t batch_tokens,
                                                 const std::function<bool()>& should_stop);

// The same, with the micro-batches dealt to the ranks: every rank gets all outputs. Collective; it stops on all ranks
// when `should_stop` says true on any, and fails on all when it fails on one.
std::optional<RowOutputs> compute_outputs_together(const ModelBundle& model, const Dataset& dataset,
                                                   int64_t batch_tokens, const std::function<bool()>& should_stop,
                                                   const World& world, const GatherTexts& gather);

// The task's metrics of a data set with targets.
Evaluation evaluate(const ModelBundle& model, const Dataset& dataset, int64_t batch_tokens);

// "loss 0.1234  accuracy 0.9712 ...", for a log line.
std::string metrics_line(const Evaluation& evaluation);

}  // namespace bertft
