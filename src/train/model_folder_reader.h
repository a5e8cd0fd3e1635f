// Opens a written (or foreign) model directory for evaluation and prediction.
#pragma once

#include <memory>
#include <string>

#include "tokenize/tokenizer.h"
#include "train/model_bundle.h"
#include "train/model_settings.h"
#include "train/weight_loader.h"

namespace bertft {

struct OpenedModel {
  ModelSettings settings;  // max_length resolved
  Tokenizer tokenizer;
  std::unique_ptr<ModelBundle> model;
  LoadSummary loaded;
};

// The head must be there and fit the labels of config.json. Throws DataError for tokenizer files and CheckpointError
// for everything else.
OpenedModel open_model(const std::string& folder);

// Checks that go across files, also made before training: every id that the tokenizer can produce has a row in the
// table, and max_length fits the position table. `what` names the setting that holds max_length.
void check_model_fits(const EncoderConfig& config, const Tokenizer& tokenizer, int64_t max_length,
                      const std::string& what);

}  // namespace bertft
