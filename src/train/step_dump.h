// --dump-step: logits and gradients of one step as safetensors, for comparison with other programs.
#pragma once

#include <string>

#include "train/model_bundle.h"
#include "train/train_step.h"

namespace bertft {

// Writes `logits` [rows, C], in the order of the trace's rows, and before clipping each `grad.<name>`, named as in the
// written model directory (grad.bert.encoder.layer.0... , grad.classifier.weight). REQUIRES result.logits.
void write_step_dump(const std::string& path, const ModelBundle& model, const StepResult& result);

}  // namespace bertft
