// The rules by which a file's tensors are matched with a model's, on files of a few small tensors.
#include "checkpoint/load_plan.h"

#include <algorithm>
#include <limits>
#include <map>

#include "checkpoint/safetensors.h"
#include "core/error.h"
#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft {
namespace {

using Catch::Matchers::Contains;
using test::checkpoint_error;
using test::TempFolder;

const NameRules kRules = {{"bert."}, {"cls."}, {"embeddings.position_ids"}};

struct FileTensor {
  std::string name;
  std::vector<int64_t> shape;
  DType dtype = DType::kF32;
  float value = 0.5f;
};

std::vector<WantedTensor> wanted_model() {
  return {{"embeddings.word_embeddings.weight", {5, 2}, false},
          {"embeddings.LayerNorm.weight", {2}, false},
          {"embeddings.LayerNorm.bias", {2}, false},
          {"encoder.layer.0.output.dense.weight", {2, 3}, false},
          {"encoder.layer.1.output.dense.weight", {2, 3}, false},
          {"pooler.dense.weight", {2, 2}, true},
          {"pooler.dense.bias", {2}, true},
          {"classifier.weight", {3, 2}, true},
          {"classifier.bias", {3}, true}};
}

// The tensors that fit wanted_model(), with `prefix` as transformers writes it: not on the classifier.
std::vector<FileTensor> fitting_tensors(const std::string& prefix) {
  std::vector<FileTensor> tensors;
  for (const WantedTensor& want : wanted_model()) {
    const bool is_classifier = want.name.rfind("classifier", 0) == 0;
    tensors.push_back({(is_classifier ? "" : prefix) + want.name, want.shape});
  }
  return tensors;
}

TensorFile write_and_open(const TempFolder& folder, const std::vector<FileTensor>& tensors) {
  std::vector<std::vector<float>> storage;
  std::vector<TensorView> views;
  for (const FileTensor& tensor : tensors) {
    const size_t bytes = static_cast<size_t>(element_count(tensor.shape)) * dtype_bytes(tensor.dtype);
    storage.emplace_back((bytes + 3) / 4, tensor.value);
    views.push_back({tensor.name, tensor.dtype, tensor.shape, nullptr, bytes});
  }
  for (size_t i = 0; i < views.size(); ++i) views[i].data = reinterpret_cast<const std::byte*>(storage[i].data());
  write_safetensors(folder / "model.safetensors", views);
  return TensorFile::open(folder / "model.safetensors");
}

LoadPlan plan_of(const std::vector<FileTensor>& tensors) {
  const TempFolder folder;
  return plan_load(write_and_open(folder, tensors), wanted_model(), kRules);
}

std::string error_of(const std::vector<FileTensor>& tensors) {
  return checkpoint_error([&] { plan_of(tensors); });
}

FileTensor& tensor_named(std::vector<FileTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const FileTensor& t) { return t.name == name; });
  REQUIRE(found != tensors.end());
  return *found;
}

void remove(std::vector<FileTensor>& tensors, const std::string& beginning) {
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [&](const FileTensor& t) { return t.name.rfind(beginning, 0) == 0; }),
                tensors.end());
}

std::string reason_of(const LoadPlan& plan, const std::string& name) {
  for (const IgnoredTensor& ignored : plan.ignored) {
    if (ignored.name == name) return ignored.reason;
  }
  return "not ignored";
}

TEST_CASE("a whole model loads with and without prefix") {
  for (const std::string prefix : {"bert.", ""}) {
    INFO("prefix '" << prefix << "'");
    const TempFolder folder;
    const TensorFile file = write_and_open(folder, fitting_tensors(prefix));
    const std::vector<WantedTensor> wanted = wanted_model();
    const LoadPlan plan = plan_load(file, wanted, kRules);
    CHECK(plan.prefix == prefix);
    CHECK(plan.loaded.size() == 9);
    CHECK(plan.created.empty());
    CHECK(plan.ignored.empty());
    CHECK(plan.mismatched.empty());
    CHECK(plan.encoder_tensors == 5);
    CHECK(plan.encoder_matched == 5);
    CHECK(plan.encoder_share == 1.0);
    CHECK(plan.loaded_elements == 10 + 2 + 2 + 6 + 6 + 4 + 2 + 6 + 3);
    REQUIRE(plan.source.size() == wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const TensorView& tensor = file.tensors().at(static_cast<size_t>(plan.source[i]));
      CHECK(tensor.name == (wanted[i].name.rfind("classifier", 0) == 0 ? "" : prefix) + wanted[i].name);
    }
  }
}

TEST_CASE("gamma and beta are read inside LayerNorm only") {
  std::vector<FileTensor> tensors = fitting_tensors("bert.");
  tensor_named(tensors, "bert.embeddings.LayerNorm.weight").name = "bert.embeddings.LayerNorm.gamma";
  tensor_named(tensors, "bert.embeddings.LayerNorm.bias").name = "bert.embeddings.LayerNorm.beta";
  CHECK(plan_of(tensors).encoder_matched == 5);

  std::vector<FileTensor> elsewhere = fitting_tensors("bert.");
  tensor_named(elsewhere, "classifier.weight").name = "classifier.gamma";
  CHECK(plan_of(elsewhere).created == std::vector<std::string>{"classifier.weight", "classifier.bias"});

  std::vector<FileTensor> similar = fitting_tensors("bert.");
  tensor_named(similar, "bert.embeddings.LayerNorm.weight").name = "bert.embeddings.MyLayerNorm.gamma";
  CHECK_THAT(error_of(similar), Contains("bert.embeddings.LayerNorm.weight is not in the file"));

  std::vector<FileTensor> both = fitting_tensors("bert.");
  both.push_back({"bert.embeddings.LayerNorm.gamma", {2}});
  const LoadPlan plan = plan_of(both);
  CHECK(reason_of(plan, "bert.embeddings.LayerNorm.gamma") == "the file also has bert.embeddings.LayerNorm.weight");
}

TEST_CASE("a missing head starts new") {
  std::vector<FileTensor> tensors = fitting_tensors("bert.");
  remove(tensors, "classifier");
  const LoadPlan plan = plan_of(tensors);
  CHECK(plan.created == std::vector<std::string>{"classifier.weight", "classifier.bias"});
  CHECK(plan.created_elements == 9);
  CHECK(plan.source[7] == -1);
  CHECK(plan.source[5] >= 0);
  CHECK(plan.mismatched.empty());
}

TEST_CASE("a head of another size is reported and starts new as a whole") {
  std::vector<FileTensor> tensors = fitting_tensors("bert.");
  tensor_named(tensors, "classifier.weight").shape = {7, 2};
  const LoadPlan plan = plan_of(tensors);
  CHECK(plan.created == std::vector<std::string>{"classifier.weight", "classifier.bias"});
  REQUIRE(plan.mismatched.size() == 1);
  CHECK(plan.mismatched[0].wanted == 7);
  CHECK(plan.mismatched[0].file_shape == std::vector<int64_t>{7, 2});
  CHECK(reason_of(plan, "classifier.weight") == "it is [7, 2], the model's is [3, 2] and starts new");
  CHECK_THAT(reason_of(plan, "classifier.bias"), Contains("the rest of classifier does not fit"));
  CHECK(plan.source[8] == -1);
}

TEST_CASE("what nobody wants is ignored by name and reason") {
  std::vector<FileTensor> tensors = fitting_tensors("bert.");
  tensors.push_back({"cls.predictions.bias", {5}});
  tensors.push_back({"bert.embeddings.position_ids", {1, 4}, DType::kI64});
  tensors.push_back({"bert.empty", {0, 3}});
  tensors.push_back({"bert.encoder.layer.0.counter", {1}, DType::kI32});
  tensors.push_back({"decoder.weight", {4}});
  tensors.push_back({"encoder.layer.0.output.dense.weight", {2, 3}});
  const LoadPlan plan = plan_of(tensors);
  CHECK(reason_of(plan, "cls.predictions.bias") == "known, not needed for fine-tuning");
  CHECK(reason_of(plan, "bert.embeddings.position_ids") == "known, not needed for fine-tuning");
  CHECK(reason_of(plan, "bert.empty") == "not part of this model");
  CHECK(reason_of(plan, "bert.encoder.layer.0.counter") == "not part of this model");
  CHECK(reason_of(plan, "decoder.weight") == "not part of this model");
  CHECK(reason_of(plan, "encoder.layer.0.output.dense.weight") == "not part of this model");
  CHECK(plan.ignored.size() == 6);
  CHECK(std::is_sorted(plan.ignored.begin(), plan.ignored.end(),
                       [](const IgnoredTensor& a, const IgnoredTensor& b) { return a.name < b.name; }));
}

TEST_CASE("tensors of the encoder that the model does not have are an error") {
  std::vector<FileTensor> deeper = fitting_tensors("bert.");
  for (const int layer : {2, 3, 4}) {
    deeper.push_back({"bert.encoder.layer." + std::to_string(layer) + ".output.dense.weight", {2, 3}});
  }
  const std::string message = error_of(deeper);
  CHECK_THAT(message,
             Contains("bert.encoder.layer.2.output.dense.weight belongs to a layer that config.json does not"));
  CHECK_THAT(message, Contains("and 2 more like it"));
  CHECK_THAT(message, Contains("5 of 5 encoder tensors match"));
  CHECK_THAT(message, Contains("Use the config.json that was saved with these weights"));

  std::vector<FileTensor> relative = fitting_tensors("");
  relative.push_back({"encoder.layer.0.attention.self.distance_embedding.weight", {3, 2}});
  CHECK_THAT(error_of(relative), Contains("distance_embedding.weight is a part of the encoder"));
}

TEST_CASE("an encoder that is not complete is an error with counts and examples") {
  std::vector<FileTensor> tensors = fitting_tensors("bert.");
  remove(tensors, "bert.encoder.layer.1");
  tensor_named(tensors, "bert.embeddings.word_embeddings.weight").shape = {6, 2};
  const std::string message = error_of(tensors);
  CHECK_THAT(message, Contains("model.safetensors: the weights do not fit"));
  CHECK_THAT(message, Contains("3 of 5 encoder tensors match"));
  CHECK_THAT(message, Contains("bert.embeddings.word_embeddings.weight is [6, 2] in the file, the model needs [5, 2]"));
  CHECK_THAT(message, Contains("bert.encoder.layer.1.output.dense.weight is not in the file"));

  const TempFolder folder;
  const LoadPlan plan = match_tensors(write_and_open(folder, tensors), wanted_model(), kRules);
  CHECK(plan.faults.size() == 2);
  CHECK(plan.encoder_share == 10.0 / 26.0);
}

TEST_CASE("only the first five faults are listed, all are counted") {
  std::vector<WantedTensor> wanted = {{"embeddings.weight", {1}, false}};
  for (int i = 0; i < 20; ++i) wanted.push_back({"encoder.layer." + std::to_string(i) + ".weight", {1}, false});
  const TempFolder folder;
  const TensorFile file = write_and_open(folder, {{"embeddings.weight", {1}}});
  const std::string message = checkpoint_error([&] { plan_load(file, wanted, kRules); });
  CHECK_THAT(message, Contains("1 of 21 encoder tensors match"));
  CHECK_THAT(message, Contains("encoder.layer.4.weight is not in the file; and 15 more"));
  CHECK(message.find("encoder.layer.5.weight") == std::string::npos);
}

TEST_CASE("weights of another family or under another prefix are recognized") {
  const std::string other = error_of({{"distilbert.transformer.layer.0.q_lin.weight", {2, 2}}, {"x", {1}}});
  CHECK_THAT(other,
             Contains("none of the model's 5 encoder tensors is in the file, which holds distilbert.transformer"));
  CHECK_THAT(other, Contains("supported family"));
  CHECK_THAT(error_of({}), Contains("the file holds no tensors"));

  const std::string wrapped = error_of(fitting_tensors("module.bert."));
  CHECK_THAT(wrapped, Contains("embeddings.word_embeddings.weight is not in the file, which has "
                               "module.bert.embeddings.word_embeddings.weight instead"));

  std::vector<FileTensor> mixed = fitting_tensors("bert.");
  tensor_named(mixed, "bert.embeddings.LayerNorm.bias").name = "embeddings.LayerNorm.bias";
  CHECK_THAT(error_of(mixed), Contains("bert.embeddings.LayerNorm.bias is not in the file, which has "
                                       "embeddings.LayerNorm.bias instead"));
}

TEST_CASE("weights must be floating point") {
  std::vector<FileTensor> tensors = fitting_tensors("bert.");
  tensor_named(tensors, "bert.encoder.layer.0.output.dense.weight").dtype = DType::kI8;
  CHECK_THAT(error_of(tensors), Contains("bert.encoder.layer.0.output.dense.weight holds I8, weights must be"));

  std::vector<FileTensor> halves = fitting_tensors("bert.");
  for (FileTensor& tensor : halves) tensor.dtype = DType::kBF16;
  CHECK(plan_of(halves).loaded.size() == 9);
}

TEST_CASE("a weight that is not finite is named, unless it is ignored") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TempFolder folder;
  std::vector<FileTensor> tensors = fitting_tensors("bert.");
  tensors.push_back({"cls.predictions.bias", {5}, DType::kF32, nan});
  {
    const TensorFile file = write_and_open(folder, tensors);
    const LoadPlan plan = plan_load(file, wanted_model(), kRules);
    CHECK_FALSE(first_non_finite(file, plan).has_value());
    CHECK_NOTHROW(require_finite(file, plan));
  }
  tensor_named(tensors, "bert.pooler.dense.bias").value = nan;
  const TensorFile file = write_and_open(folder, tensors);
  const LoadPlan plan = plan_load(file, wanted_model(), kRules);
  const auto found = first_non_finite(file, plan);
  REQUIRE(found.has_value());
  CHECK(found->tensor == "bert.pooler.dense.bias");
  CHECK(found->index == 0);
  const std::string message = checkpoint_error([&] { require_finite(file, plan); });
  CHECK_THAT(message, Contains("element 0 of tensor 'bert.pooler.dense.bias' is not a finite number"));
}

}  // namespace
}  // namespace bertft
