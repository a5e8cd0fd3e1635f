// Weights as they are published: the six-layer MiniLM, when its file is given by BERTFT_MINILM.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "checkpoint/convert.h"
#include "checkpoint/load_plan.h"
#include "checkpoint/model_folder.h"
#include "tests/support/sha256.h"
#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft {
namespace {

const NameRules kRules = {{"bert."}, {"cls."}, {"embeddings.position_ids"}};

void add_module(std::vector<WantedTensor>& wanted, const std::string& name, std::vector<int64_t> shape,
                bool is_head_side = false) {
  wanted.push_back({name + ".weight", shape, is_head_side});
  wanted.push_back({name + ".bias", {shape.front()}, is_head_side});
}

std::vector<WantedTensor> wanted_bert(int64_t vocabulary, int64_t hidden, int64_t inner, int layers, int64_t labels) {
  std::vector<WantedTensor> wanted = {{"embeddings.word_embeddings.weight", {vocabulary, hidden}, false},
                                      {"embeddings.position_embeddings.weight", {512, hidden}, false},
                                      {"embeddings.token_type_embeddings.weight", {2, hidden}, false}};
  add_module(wanted, "embeddings.LayerNorm", {hidden});
  for (int i = 0; i < layers; ++i) {
    const std::string layer = "encoder.layer." + std::to_string(i) + ".";
    for (const char* part : {"query", "key", "value"}) {
      add_module(wanted, layer + "attention.self." + part, {hidden, hidden});
    }
    add_module(wanted, layer + "attention.output.dense", {hidden, hidden});
    add_module(wanted, layer + "attention.output.LayerNorm", {hidden});
    add_module(wanted, layer + "intermediate.dense", {inner, hidden});
    add_module(wanted, layer + "output.dense", {hidden, inner});
    add_module(wanted, layer + "output.LayerNorm", {hidden});
  }
  add_module(wanted, "pooler.dense", {hidden, hidden}, true);
  add_module(wanted, "classifier", {labels, hidden}, true);
  return wanted;
}

TEST_CASE("the published MiniLM loads whole") {
  const char* path = std::getenv("BERTFT_MINILM");
  if (path == nullptr || !std::filesystem::exists(path)) {
    std::cout << "SKIPPED: BERTFT_MINILM does not give the model.safetensors of all-MiniLM-L6-v2\n";
    return;
  }
  const TensorFile file = TensorFile::open(find_model_files(path).weights);
  CHECK(file.tensors().size() == 104);
  CHECK(file.metadata().at("format") == "pt");
  const std::vector<WantedTensor> wanted = wanted_bert(30522, 384, 1536, 6, 6);
  const LoadPlan plan = plan_load(file, wanted, kRules);
  CHECK(plan.prefix.empty());
  CHECK(plan.loaded.size() == 103);
  CHECK(plan.loaded_elements == 22713216);
  CHECK(plan.created == std::vector<std::string>{"classifier.weight", "classifier.bias"});
  REQUIRE(plan.ignored.size() == 1);
  CHECK(plan.ignored[0].name == "embeddings.position_ids");
  CHECK_FALSE(first_non_finite(file, plan).has_value());

  const TensorView* pooler = file.find("pooler.dense.weight");
  REQUIRE(pooler != nullptr);
  std::vector<float> values(static_cast<size_t>(element_count(pooler->shape)));
  copy_to_f32(*pooler, values.data());
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  CHECK(test::sha256_hex(bytes) == "eb9e55f478fe64f53f97c83c03f1823bbd0ddc932f8431ce5dce6ae8babbe873");

  // With the config of the twelve-layer sibling, or of five layers, the same file is refused.
  const std::string missing =
      test::checkpoint_error([&] { plan_load(file, wanted_bert(30522, 384, 1536, 12, 6), kRules); });
  CHECK_THAT(missing, Catch::Matchers::Contains("101 of 197 encoder tensors match"));
  const std::string beyond =
      test::checkpoint_error([&] { plan_load(file, wanted_bert(30522, 384, 1536, 5, 6), kRules); });
  CHECK_THAT(beyond, Catch::Matchers::Contains("encoder.layer.5.attention.output.LayerNorm.bias belongs to a layer"));
}

}  // namespace
}  // namespace bertft
