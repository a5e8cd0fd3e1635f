#include "tests/unit/train/tiny_classifier.h"

#include <algorithm>
#include <filesystem>

#include "model/initializer.h"
#include "tasks/text_classification.h"

namespace bertft::test {

const std::vector<std::string>& tiny_labels() {
  static const std::vector<std::string> labels = {"down", "flat", "up"};
  return labels;
}

std::string tiny_config_text() {
  return R"({"model_type": "bert", "architectures": ["BertModel"], "vocab_size": 10, "hidden_size": 8,
 "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 8,
 "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "torch_dtype": "float16",
 "_name_or_path": "elsewhere", "custom": {"kept": [1, 2]}, "num_labels": 17, "finetuning_task": "mnli"})";
}

void write_tiny_checkpoint(const TempFolder& folder, const std::string& name) {
  folder.write(name + "/config.json", tiny_config_text());
  folder.write(name + "/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n##a\n##b\n");
  folder.write(name + "/tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})");
}

std::unique_ptr<ModelBundle> tiny_classifier(const std::string& folder, uint64_t seed, at::ScalarType type,
                                             const std::vector<std::string>& labels) {
  auto model = std::make_unique<ModelBundle>(read_encoder_config(folder + "/config.json"),
                                             std::make_unique<TextClassification>(TaskSettings{{}, labels}), type);
  for (const LayoutEntry& entry : model->store().layout().entries) initialize(model->store(), entry, 0.3, seed);
  return model;
}

ModelSettings tiny_settings() {
  ModelSettings settings;
  settings.columns.text = "sentence";
  settings.max_length = 8;
  settings.truncation = Truncation::kHeadTail;
  settings.labels = tiny_labels();
  return settings;
}

TokenizerSource tiny_tokenizer_source(const std::string& folder) {
  return {folder, {"vocab.txt", "tokenizer_config.json"}};
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace bertft::test
