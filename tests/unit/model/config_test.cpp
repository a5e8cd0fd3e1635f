// config.json of published checkpoints: what is read, what has a default, and what is refused by name.
#include "model/config.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "model/families.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::TempFolder;

nlohmann::json good_config() {
  return {{"model_type", "bert"},       {"vocab_size", 30522},
          {"hidden_size", 384},         {"num_hidden_layers", 6},
          {"num_attention_heads", 12},  {"intermediate_size", 1536},
          {"type_vocab_size", 2},       {"max_position_embeddings", 512},
          {"layer_norm_eps", 1e-12},    {"hidden_act", "gelu"},
          {"hidden_dropout_prob", 0.2}, {"attention_probs_dropout_prob", 0.3},
          {"initializer_range", 0.01},  {"unknown_key", {1, 2}}};
}

EncoderConfig read(const std::string& text) {
  const TempFolder folder;
  return read_encoder_config(folder.write("config.json", text));
}

TEST_CASE("The table of families knows BERT and nothing that is not built") {
  const Family* bert = find_family("bert");
  REQUIRE(bert != nullptr);
  REQUIRE(bert->prefix == "bert.");
  REQUIRE(bert->classifier_architecture == "BertForSequenceClassification");
  REQUIRE(bert->ignored_prefixes == std::vector<std::string>{"cls."});
  for (const char* other : {"", "BERT", "bert ", "roberta", "distilbert", "albert", "electra", "xlm-roberta"}) {
    REQUIRE(find_family(other) == nullptr);
  }
  REQUIRE_THAT(known_families(), Contains("bert (") && Contains("MiniLM"));
}

TEST_CASE("All values of a config.json are read") {
  const std::string text = good_config().dump();
  const EncoderConfig config = read(text);
  REQUIRE(config.model_type == "bert");
  REQUIRE(config.vocab_size == 30522);
  REQUIRE(config.hidden_size == 384);
  REQUIRE(config.layers == 6);
  REQUIRE(config.heads == 12);
  REQUIRE(config.intermediate_size == 1536);
  REQUIRE(config.max_positions == 512);
  REQUIRE(config.token_types == 2);
  REQUIRE(config.norm_epsilon == 1e-12);
  REQUIRE(config.dropout == 0.2);
  REQUIRE(config.attention_dropout == 0.3);
  REQUIRE_FALSE(config.classifier_dropout.has_value());
  REQUIRE(config.effective_classifier_dropout() == 0.2);
  REQUIRE(config.initializer_range == 0.01);
  REQUIRE(config.source_text == text);
}

TEST_CASE("What old configurations lack has the reference's default, and null counts as missing") {
  nlohmann::json json = good_config();
  for (const char* key : {"layer_norm_eps", "hidden_act", "hidden_dropout_prob", "attention_probs_dropout_prob",
                          "initializer_range", "type_vocab_size"}) {
    json.erase(key);
  }
  json["classifier_dropout"] = nullptr;
  json["position_embedding_type"] = nullptr;
  const EncoderConfig config = read(json.dump());
  REQUIRE(config.norm_epsilon == 1e-12);
  REQUIRE(config.dropout == 0.1);
  REQUIRE(config.attention_dropout == 0.1);
  REQUIRE(config.initializer_range == 0.02);
  REQUIRE(config.token_types == 2);
  REQUIRE(config.effective_classifier_dropout() == 0.1);
  json["classifier_dropout"] = 0.0;
  REQUIRE(read(json.dump()).effective_classifier_dropout() == 0.0);
}

TEST_CASE("A wrong value is refused with file, key, value and what is possible") {
  struct Case {
    const char* key;
    nlohmann::json value;  // null = the key is removed
    const char* fragment;
  };
  const std::vector<Case> cases = {
      {"model_type", nullptr, "model_type is missing: it says which architecture this is; known: bert ("},
      {"model_type", "roberta", "model_type is \"roberta\": this family is not in this build; known: bert ("},
      {"model_type", 7, "model_type is 7: a text is needed"},
      {"vocab_size", nullptr, "vocab_size is missing: it is needed to build the model"},
      {"vocab_size", "many", "vocab_size is \"many\": an integer is needed"},
      {"vocab_size", 30522.0, "vocab_size is 30522.0: an integer is needed"},
      {"vocab_size", 0, "vocab_size is 0: it must be between 1 and 1073741824"},
      {"vocab_size", -5, "vocab_size is -5: it must be between"},
      {"vocab_size", uint64_t{18446744073709551615u}, "vocab_size is 18446744073709551615: it must be between"},
      {"hidden_size", nullptr, "hidden_size is missing"},
      {"hidden_size", 1 << 30, "hidden_size is 1073741824: it must be between 1 and 65536"},
      {"num_hidden_layers", 0, "num_hidden_layers is 0: it must be between 1 and 1024"},
      {"num_hidden_layers", {6}, "num_hidden_layers is [6]: an integer is needed"},
      {"num_attention_heads", 7, "num_attention_heads is 7: it must divide hidden_size (384)"},
      {"num_attention_heads", 0, "num_attention_heads is 0"},
      {"intermediate_size", nullptr, "intermediate_size is missing"},
      {"max_position_embeddings", -1, "max_position_embeddings is -1"},
      {"type_vocab_size", 0, "type_vocab_size is 0"},
      {"layer_norm_eps", "small", "layer_norm_eps is \"small\": a number is needed"},
      {"layer_norm_eps", -1e-12, "layer_norm_eps is -1e-12"},
      {"hidden_dropout_prob", 1.0, "hidden_dropout_prob is 1.0: it must be between 0 and 0.99"},
      {"attention_probs_dropout_prob", -0.1, "attention_probs_dropout_prob is -0.1"},
      {"classifier_dropout", 2, "classifier_dropout is 2"},
      {"initializer_range", true, "initializer_range is true: a number is needed"},
      {"hidden_act", "gelu_new", "hidden_act is \"gelu_new\": not in this build; known: gelu"},
      {"hidden_act", "relu", "hidden_act is \"relu\": not in this build; known: gelu"},
      {"position_embedding_type", "relative_key", "not in this build; known: absolute"},
      {"is_decoder", true, "is_decoder is true: only encoders can be fine-tuned"},
      {"is_decoder", "no", "is_decoder is \"no\": true or false is needed"},
      {"add_cross_attention", true, "add_cross_attention is true: only encoders can be fine-tuned"},
  };
  for (const Case& c : cases) {
    nlohmann::json json = good_config();
    c.value.is_null() ? void(json.erase(c.key)) : void(json[c.key] = c.value);
    INFO(c.key << ": " << c.value.dump());
    const std::string message = error_text<CheckpointError>([&] { read(json.dump()); });
    REQUIRE_THAT(message, Contains("config.json: ") && Contains(c.fragment));
  }
}

TEST_CASE("A file that is no config.json is refused by what it is") {
  struct Case {
    const char* text;
    const char* fragment;
  };
  const std::vector<Case> cases = {
      {"", "not valid JSON"},
      {"{\"model_type\": \"bert\"", "not valid JSON"},
      {"{\"model_type\": \"\xff\"}", "not valid JSON"},
      {"[]", "a JSON object is needed"},
      {"\"bert\"", "a JSON object is needed"},
      {"{}", "model_type is missing"},
      {"version https://git-lfs.github.com/spec/v1\nsize 570\n", "Git LFS pointer"},
      {"<!DOCTYPE html>", "is a web page"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const std::string message = error_text<CheckpointError>([&] { read(c.text); });
    REQUIRE_THAT(message, Contains("config.json") && Contains(c.fragment));
  }
  REQUIRE_THAT(error_text<DataError>([] { read_encoder_config("/nowhere/config.json"); }),
               Contains("/nowhere/config.json"));
}

}  // namespace
}  // namespace bertft
