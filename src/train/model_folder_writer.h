// Writes a model as a directory that transformers loads unchanged: config.json, model.safetensors, the tokenizer's
// files, and bert_finetune.json for ourselves.
#pragma once

#include <string>
#include <vector>

#include "train/model_bundle.h"
#include "train/model_settings.h"

namespace bertft {

struct TokenizerSource {
  std::string folder;              // where the tokenizer was loaded from
  std::vector<std::string> files;  // names to be copied
};

// Builds `folder`.tmp and renames it: the directory appears whole or not at all; one of that name is replaced.
// Throws ResourceError when it cannot be written and DivergedError when a weight is not finite.
void write_model_folder(const ModelBundle& model, const ModelSettings& settings, const TokenizerSource& tokenizer,
                        const std::string& folder);

// config.json of the written model: what the checkpoint's said, with this head, its labels and problem type.
std::string written_config(const EncoderConfig& config, const HeadDescription& head, at::ScalarType type);

}  // namespace bertft
