// A classifier small enough to be written and read in a test: a checkpoint folder and the model over it.
// Knows torch: include before tests/support/test.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "train/model_bundle.h"
#include "train/model_folder_writer.h"

namespace bertft::test {

const std::vector<std::string>& tiny_labels();  // down, flat, up

// config.json of a BERT of one layer, hidden 8, with keys of its own that must survive.
std::string tiny_config_text();

// config.json, vocab.txt and tokenizer_config.json, no weights. Ids as tests/unit/data/tiny_tokenizer.h.
void write_tiny_checkpoint(const TempFolder& folder, const std::string& name);

// A model of the given labels over `folder`/config.json, randomly initialized from `seed`.
std::unique_ptr<ModelBundle> tiny_classifier(const std::string& folder, uint64_t seed, at::ScalarType type = at::kFloat,
                                             const std::vector<std::string>& labels = tiny_labels());

ModelSettings tiny_settings();
TokenizerSource tiny_tokenizer_source(const std::string& folder);

// Names in a folder, sorted.
std::vector<std::string> names_in(const std::string& folder);

}  // namespace bertft::test
