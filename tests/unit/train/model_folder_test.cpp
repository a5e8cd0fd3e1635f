// Model directories: what config.json says to other programs, whole directories or none, and the same outputs when one
// is opened again. Also what becomes of a head that a checkpoint holds.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "tests/support/errors.h"
#include "tests/unit/train/tiny_classifier.h"
#include "train/batch_pass.h"
#include "train/data_files.h"
#include "train/model_folder_reader.h"
#include "train/model_folder_writer.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::names_in;
using test::TempFolder;
using test::tiny_classifier;
using test::tiny_settings;
using test::tiny_tokenizer_source;
using Json = nlohmann::json;
using Names = std::vector<std::string>;

// A folder with a checkpoint "base" (no weights) and a written model "model".
struct Written {
  explicit Written(at::ScalarType type = at::kFloat) {
    test::write_tiny_checkpoint(folder, "base");
    model = tiny_classifier(folder / "base", 5, type);
    write_model_folder(*model, tiny_settings(), tiny_tokenizer_source(folder / "base"), folder / "model");
  }
  TempFolder folder;
  std::unique_ptr<ModelBundle> model;
};

TEST_CASE("config.json of a written model has the new head and keeps what we do not read") {
  const TempFolder folder;
  test::write_tiny_checkpoint(folder, "base");
  EncoderConfig config = read_encoder_config(folder / "base/config.json");
  config.dropout = 0.3;
  config.attention_dropout = 0.0;
  const HeadDescription head = {"BertForSequenceClassification", "single_label_classification", {"b", "a", "ä\"x"}};
  const Json written = Json::parse(written_config(config, head, at::kFloat));
  REQUIRE(written["architectures"] == Json{"BertForSequenceClassification"});
  REQUIRE(written["problem_type"] == "single_label_classification");
  REQUIRE(written["id2label"] == Json{{"0", "b"}, {"1", "a"}, {"2", "ä\"x"}});
  REQUIRE(written["label2id"] == Json{{"b", 0}, {"a", 1}, {"ä\"x", 2}});
  REQUIRE(written["dtype"] == "float32");
  REQUIRE(written["hidden_dropout_prob"] == 0.3);
  REQUIRE(written["attention_probs_dropout_prob"] == 0.0);
  REQUIRE(written["custom"] == Json{{"kept", {1, 2}}});
  REQUIRE(written["vocab_size"] == 10);
  for (const char* gone : {"torch_dtype", "_name_or_path", "num_labels", "finetuning_task", "classifier_dropout"}) {
    REQUIRE_FALSE(written.contains(gone));
  }
  config.classifier_dropout = 0.25;
  const Json in_double = Json::parse(written_config(config, head, at::kDouble));
  REQUIRE(in_double["classifier_dropout"] == 0.25);
  REQUIRE(in_double["dtype"] == "float64");
}

TEST_CASE("A directory appears whole, replaces an older one, and leaves nothing beside it") {
  const Written written;
  const Names files = {"bert_finetune.json", "config.json", "model.safetensors", "tokenizer_config.json", "vocab.txt"};
  REQUIRE(names_in(written.folder / "model") == files);
  REQUIRE(read_file(written.folder / "model/vocab.txt") == read_file(written.folder / "base/vocab.txt"));
  written.folder.write("model/stale.bin", "x");
  written.folder.write("model.tmp/half.bin", "x");  // as a killed run leaves it
  write_model_folder(*written.model, tiny_settings(), tiny_tokenizer_source(written.folder / "base"),
                     written.folder / "model");
  REQUIRE(names_in(written.folder / "model") == files);
  REQUIRE(names_in(written.folder.path()) == Names{"base", "model"});
}

TEST_CASE("Weights that are not finite are never written, and the parameter is named") {
  const Written written;
  const std::string before = read_file(written.folder / "model/model.safetensors");
  at::Tensor value = written.model->store().parameter("encoder.layer.0.output.dense.weight").value;
  value[3][4] = std::nan("");
  REQUIRE_THAT(error_text<DivergedError>([&] {
                 write_model_folder(*written.model, tiny_settings(), tiny_tokenizer_source(written.folder / "base"),
                                    written.folder / "model");
               }),
               Contains("encoder.layer.0.output.dense.weight") && Contains("not written"));
  REQUIRE(read_file(written.folder / "model/model.safetensors") == before);
  REQUIRE(names_in(written.folder.path()) == Names{"base", "model"});
}

TEST_CASE("A directory that cannot be written is a resource error") {
  const Written written;
  const std::string file = written.folder.write("file", "x");
  REQUIRE_THAT(error_text<ResourceError>([&] {
                 write_model_folder(*written.model, tiny_settings(), tiny_tokenizer_source(written.folder / "base"),
                                    file + "/model");
               }),
               Contains(file));
}

TEST_CASE("A written model is opened with its settings and the same bits") {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const Written written(type);
    const OpenedModel opened = open_model(written.folder / "model");
    REQUIRE(opened.settings.columns.text == "sentence");
    REQUIRE(opened.settings.truncation == Truncation::kHeadTail);
    REQUIRE(opened.settings.max_length == 8);
    REQUIRE(opened.settings.labels == test::tiny_labels());
    REQUIRE(opened.model->store().weights().scalar_type() == type);
    REQUIRE(at::equal(opened.model->store().weights(), written.model->store().weights()));
    REQUIRE(opened.loaded.plan.encoder_share == 1.0);
    REQUIRE(opened.loaded.plan.created.empty());
    REQUIRE(opened.loaded.plan.ignored.empty());
  }
}

TEST_CASE("Encoder and pooler carry the prefix of the family in a written file, the classifier none") {
  const Written written;
  const ModelBundle& model = *written.model;
  REQUIRE(model.published_name("encoder.layer.0.output.dense.bias") == "bert.encoder.layer.0.output.dense.bias");
  REQUIRE(model.published_name("embeddings.LayerNorm.weight") == "bert.embeddings.LayerNorm.weight");
  REQUIRE(model.published_name("pooler.dense.weight") == "bert.pooler.dense.weight");
  REQUIRE(model.published_name("classifier.weight") == "classifier.weight");
  REQUIRE(model.is_head_side("pooler.dense.weight"));
  REQUIRE(model.is_head_side("classifier.bias"));
  REQUIRE_FALSE(model.is_head_side("encoder.layer.0.output.dense.bias"));
}

at::Tensor weights_of(const ModelBundle& model, const std::string& name) { return model.store().parameter(name).value; }

TEST_CASE("A checkpoint's head is loaded, made new or refused as asked") {
  const Written written;
  const std::string checkpoint = written.folder / "model";
  struct Case {
    HeadUse use;
    size_t labels;
    bool is_classifier_loaded;
  };
  for (const Case& c : {Case{HeadUse::kAuto, 3, true}, Case{HeadUse::kKeep, 3, true}, Case{HeadUse::kNew, 3, false},
                        Case{HeadUse::kAuto, 4, false}, Case{HeadUse::kNew, 4, false}}) {
    const Names labels = c.labels == 3 ? test::tiny_labels() : Names{"a", "b", "c", "d"};
    const auto model = tiny_classifier(checkpoint, 99, at::kFloat, labels);
    const LoadSummary summary = load_weights(*model, checkpoint, c.use, 8);
    for (const char* shared : {"pooler.dense.weight", "encoder.layer.0.attention.self.key.weight"}) {
      REQUIRE(at::equal(weights_of(*model, shared), weights_of(*written.model, shared)));
    }
    const bool is_equal = c.labels == 3 && at::equal(weights_of(*model, "classifier.weight"),
                                                     weights_of(*written.model, "classifier.weight"));
    REQUIRE(is_equal == c.is_classifier_loaded);
    REQUIRE(summary.plan.created.size() == (c.is_classifier_loaded ? 0 : 2));
    if (c.is_classifier_loaded) continue;
    REQUIRE_THAT(summary.report(), Contains("new, initialized: classifier."));
    REQUIRE(weights_of(*model, "classifier.bias").abs().max().item<double>() == 0.0);
    const auto again = tiny_classifier(checkpoint, 98, at::kFloat, labels);
    load_weights(*again, checkpoint, c.use, 8);
    REQUIRE(at::equal(again->store().weights(), model->store().weights()));  // the seed alone decides
  }
  const auto other = tiny_classifier(checkpoint, 99, at::kFloat, {"a", "b", "c", "d"});
  REQUIRE_THAT(error_text<CheckpointError>([&] { load_weights(*other, checkpoint, HeadUse::kKeep, 8); }),
               Contains("model.head is keep") && Contains("classifier.") && Contains("another number of labels"));
}

TEST_CASE("Tokenizer, weights and lengths must belong together") {
  const Written written;
  const OpenedModel opened = open_model(written.folder / "model");
  EncoderConfig config = opened.model->config();
  REQUIRE_NOTHROW(check_model_fits(config, opened.tokenizer, 8, "model.max_length"));
  REQUIRE_THAT(error_text<ConfigError>([&] { check_model_fits(config, opened.tokenizer, 9, "model.max_length"); }),
               Contains("model.max_length: 9 is more than the 8 positions"));
  config.vocab_size = 9;
  REQUIRE_THAT(error_text<CheckpointError>([&] { check_model_fits(config, opened.tokenizer, 8, "x"); }),
               Contains("10 tokens") && Contains("vocab_size in config.json is 9"));
}

TEST_CASE("The type of a file of weights is seen before it is loaded") {
  REQUIRE(stored_type(TensorFile::open(Written(at::kFloat).folder / "model/model.safetensors")) == at::kFloat);
  REQUIRE(stored_type(TensorFile::open(Written(at::kDouble).folder / "model/model.safetensors")) == at::kDouble);
}

}  // namespace
}  // namespace bertft
