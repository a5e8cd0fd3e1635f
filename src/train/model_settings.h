// What a written model directory says beyond config.json: how texts have to be prepared for this model
// (bert_finetune.json), and the labels, which stand in config.json's id2label for every program to see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/label_settings.h"
#include "data/options.h"
#include "model/config.h"
#include "tokenize/options.h"
#include "tokenize/tokenizer.h"
#include "train/reading_settings.h"

namespace bertft {

struct ModelSettings {
  std::string task = "text_classification";
  ColumnNames columns;
  bool is_pair_optional = false;  // a file may lack columns.text_pair (directories written elsewhere)
  int32_t max_length = 0;
  Truncation truncation = Truncation::kLongestFirst;
  Compat compat = Compat::kHf;
  LabelSettings label_settings;  // how label cells are read
  ReadingSettings reading;       // how files are read; a folder of an older build has none: the defaults
  std::vector<std::string> labels;
};

Truncation parse_truncation(const std::string& text);
Compat parse_compat(const std::string& text);
std::string truncation_name(Truncation truncation);
std::string compat_name(Compat compat);

// The content of bert_finetune.json (without the labels).
std::string settings_text(const ModelSettings& settings);

// Settings of a folder. Without bert_finetune.json (a directory written elsewhere): columns text, text_pair, label, and
// max_length 0, which foreign_max_length() then resolves. Throws CheckpointError for broken files and when config.json
// names no labels.
ModelSettings read_model_settings(const std::string& folder);

// min(model_max_length of the tokenizer, position table).
int32_t foreign_max_length(const Tokenizer& tokenizer, const EncoderConfig& config);

}  // namespace bertft
