#include "model/options.h"

#include <charconv>

#include "core/error.h"
#include "core/text.h"

namespace bertft {

int64_t frozen_stages(const std::string& freeze) {
  if (freeze == "none") return 0;
  if (freeze == "embeddings") return 1;
  int64_t layers = -1;
  const char* end = freeze.data() + freeze.size();
  const auto [stop, error] = std::from_chars(freeze.data(), end, layers);
  if (error != std::errc{} || stop != end || layers < 0) {
    throw ConfigError("model.freeze: '" + excerpt(freeze) +
                      "' is not none, embeddings, or a number of layers (the embeddings are frozen with them)");
  }
  return 1 + layers;
}

OptionTable model_option_table(ModelOptions& options) {
  const auto rate = [](const char* key, AutoDouble* target, const char* help, const char* rule) {
    return Option{.key = key, .target = target, .help = help, .min = 0.0, .max = 0.99, .auto_rule = rule};
  };
  OptionTable table{
      "model",
      {{.key = "checkpoint",
        .target = &options.checkpoint,
        .help = "folder of the published checkpoint: config.json, weights (safetensors or pytorch_model.bin, whole or "
                "in shards), tokenizer files",
        .kind = OptionKind::kPath},
       {.key = "head",
        .target = &options.head,
        .help = "head of the checkpoint: keep (must fit), new (ignore it), auto (keep if it fits)",
        .choices = {"auto", "keep", "new"}},
       {.key = "max_length",
        .target = &options.max_length,
        .help = "longest input, [CLS] and [SEP] included; longer rows are truncated",
        .unit = "tokens",
        .min = 3,
        .max = 1 << 20},
       {.key = "truncation",
        .target = &options.truncation,
        .help = "what is cut from a row that is too long",
        .choices = {"longest_first", "only_first", "head_tail"}},
       rate("dropout", &options.dropout, "dropout of embeddings and layers", "hidden_dropout_prob of config.json"),
       rate("attention_dropout", &options.attention_dropout, "dropout of attention probabilities",
            "attention_probs_dropout_prob of config.json"),
       rate("classifier_dropout", &options.classifier_dropout, "dropout before the classifier",
            "classifier_dropout of config.json, else dropout"),
       {.key = "freeze",
        .target = &options.freeze,
        .help = "what is not trained: none, embeddings, or a number N: the embeddings and the first N layers"},
       {.key = "compat",
        .target = &options.compat,
        .help = "tokenize like the reference fast tokenizer (hf) or like Google's (google)",
        .choices = {"hf", "google"}}}};
  table.not_in_this_build["truncation=sliding_window"] = "use longest_first, only_first or head_tail";
  return table;
}

}  // namespace bertft
