#include "model/config.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "model/families.h"

namespace bertft {
namespace {

// Typed access to the keys of one config.json, with messages that name file and key.
class ConfigReader {
 public:
  ConfigReader(const std::string& path, const std::string& text) : path_(path) {
    const std::string impostor = explain_impostor(text, path);
    if (!impostor.empty()) throw CheckpointError(impostor);
    try {
      json_ = nlohmann::json::parse(text);
    } catch (const nlohmann::json::exception& failure) {
      throw CheckpointError(fmt::format("{}: not valid JSON: {}", path, failure.what()));
    }
    if (!json_.is_object()) throw CheckpointError(path + ": a JSON object is needed");
  }

  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }

  int64_t integer(const char* key, int64_t least, int64_t most = int64_t{1} << 31) const {
    require(key);
    if (!json_[key].is_number_integer()) fail(key, "an integer is needed");
    const auto value = json_[key].get<int64_t>();
    if (value < least || value > most) fail(key, fmt::format("it must be between {} and {}", least, most));
    return value;
  }

  double real(const char* key, double otherwise, double least, double most) const {
    if (!has(key)) return otherwise;
    if (!json_[key].is_number()) fail(key, "a number is needed");
    const auto value = json_[key].get<double>();
    if (!(value >= least && value <= most)) fail(key, fmt::format("it must be between {} and {}", least, most));
    return value;
  }

  std::string text(const char* key, const char* otherwise) const {
    if (!has(key)) return otherwise;
    if (!json_[key].is_string()) fail(key, "a text is needed");
    return json_[key].get<std::string>();
  }

  bool boolean(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    if (!json_[key].is_boolean()) fail(key, "true or false is needed");
    return json_[key].get<bool>();
  }

  [[noreturn]] void fail(const char* key, const std::string& reason) const {
    const std::string value = json_.contains(key) ? excerpt(json_[key].dump()) : "missing";
    throw CheckpointError(fmt::format("{}: {} is {}: {}", path_, key, value, reason));
  }

 private:
  void require(const char* key) const {
    if (!has(key)) fail(key, "it is needed to build the model. Take config.json from the same place as the weights");
  }

  std::string path_;
  nlohmann::json json_;
};

void refuse_variants(const ConfigReader& reader) {
  const std::string activation = reader.text("hidden_act", "gelu");
  if (activation != "gelu") reader.fail("hidden_act", "not in this build; known: gelu");
  const std::string positions = reader.text("position_embedding_type", "absolute");
  if (positions != "absolute") reader.fail("position_embedding_type", "not in this build; known: absolute");
  if (reader.boolean("is_decoder", false)) reader.fail("is_decoder", "only encoders can be fine-tuned");
  if (reader.boolean("add_cross_attention", false))
    reader.fail("add_cross_attention", "only encoders can be fine-tuned");
}

}  // namespace

EncoderConfig read_encoder_config(const std::string& path) {
  EncoderConfig config;
  config.source_text = read_file(path);
  const ConfigReader reader(path, config.source_text);
  config.model_type = reader.text("model_type", "");
  if (config.model_type.empty())
    reader.fail("model_type", "it says which architecture this is; known: " + known_families());
  if (find_family(config.model_type) == nullptr) {
    reader.fail("model_type", "this family is not in this build; known: " + known_families());
  }
  refuse_variants(reader);
  config.vocab_size = reader.integer("vocab_size", 1, 1 << 30);
  config.hidden_size = reader.integer("hidden_size", 1, 1 << 16);
  config.layers = reader.integer("num_hidden_layers", 1, 1024);
  config.heads = reader.integer("num_attention_heads", 1, 1 << 16);
  if (config.hidden_size % config.heads != 0) {
    reader.fail("num_attention_heads", fmt::format("it must divide hidden_size ({})", config.hidden_size));
  }
  config.intermediate_size = reader.integer("intermediate_size", 1, 1 << 18);
  config.max_positions = reader.integer("max_position_embeddings", 1, 1 << 20);
  config.token_types = reader.has("type_vocab_size") ? reader.integer("type_vocab_size", 1, 1 << 16) : 2;
  config.norm_epsilon = reader.real("layer_norm_eps", 1e-12, 0.0, 1.0);
  config.dropout = reader.real("hidden_dropout_prob", 0.1, 0.0, 0.99);
  config.attention_dropout = reader.real("attention_probs_dropout_prob", 0.1, 0.0, 0.99);
  if (reader.has("classifier_dropout")) config.classifier_dropout = reader.real("classifier_dropout", 0.1, 0.0, 0.99);
  config.initializer_range = reader.real("initializer_range", 0.02, 0.0, 10.0);
  return config;
}

}  // namespace bertft
