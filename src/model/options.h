// The options of section `model`.
#pragma once

#include <string>

#include "core/option_table.h"

namespace bertft {

struct ModelOptions {
  std::string checkpoint;     // folder with config.json, model.safetensors and the tokenizer files
  std::string head = "auto";  // auto: loaded when it fits, else new
  int64_t max_length = 128;   // tokens of a row, [CLS] and [SEP] included
  std::string truncation = "longest_first";
  AutoDouble dropout;  // the three rates come from config.json unless given
  AutoDouble attention_dropout;
  AutoDouble classifier_dropout;
  std::string freeze = "none";  // none, embeddings, or N: embeddings and the first N layers
  std::string compat = "hf";
};

// How many of the encoder's stages, counted from the input, model.freeze keeps as they are: 0 none, 1 the embeddings,
// 1 + N the embeddings and N layers. Throws ConfigError for another text.
int64_t frozen_stages(const std::string& freeze);

OptionTable model_option_table(ModelOptions& options);

}  // namespace bertft
