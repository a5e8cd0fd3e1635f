#include "bench/payload.h"

#include <set>

#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

constexpr int64_t kUnit = int64_t{1} << 20;

TEST_CASE("models have the tensors and parameters of the published ones, with the pooler") {
  const Payload base = model_payload("bert-base", kUnit);
  CHECK(base.tensors == 199);
  CHECK(base.layout.parameter_count() == 109'482'240);
  CHECK(base.bytes() == 437'928'960);
  const Payload mini = model_payload("minilm", kUnit);
  CHECK(mini.tensors == 103);
  CHECK(mini.layout.parameter_count() == 22'713'216);
  const Payload small = model_payload("bert-small", kUnit);
  CHECK(small.tensors == 71);
  CHECK(small.layout.parameter_count() == 28'763'648);
}

TEST_CASE("the parameters of a model stand in the order in which backward finishes them") {
  const std::vector<ParameterSpec> specs = model_shapes("minilm");
  CHECK(specs.front().name == "pooler.dense.bias");
  CHECK(specs[2].name == "encoder.layer.5.output.LayerNorm.weight");
  CHECK(specs.back().name == "embeddings.word_embeddings.weight");
  CHECK(specs.back().shape == std::vector<int64_t>{30522, 384});
  const Layout layout = make_layout(specs, kUnit);
  const LayoutEntry& query =
      layout.entries[static_cast<size_t>(layout.find("encoder.layer.0.attention.self.query.weight"))];
  const LayoutEntry& key =
      layout.entries[static_cast<size_t>(layout.find("encoder.layer.0.attention.self.key.weight"))];
  CHECK(key.offset == query.offset + query.size);
  std::set<std::string> names;
  for (const ParameterSpec& spec : specs) names.insert(spec.name);
  CHECK(names.size() == specs.size());
}

TEST_CASE("a flat buffer is cut into units of about the given size") {
  const Payload payload = flat_payload(64 << 20, kUnit);
  CHECK(payload.name == "64M");
  CHECK(payload.layout.units.size() == 16);
  CHECK(payload.layout.trainable_total == 16 << 20);
  CHECK(flat_payload(4, kUnit).layout.units.size() == 1);
  CHECK(flat_payload(4, kUnit).bytes() == 4);
}

TEST_CASE("a file of names and shapes is a model") {
  const test::TempFolder folder;
  folder.write("shapes.txt", "# backward order\nhead.bias 2\nhead.weight 2x16\n\n  table   1000x16\n");
  const Payload payload = model_payload(folder.path() + "/shapes.txt", 4096);
  CHECK(payload.tensors == 3);
  CHECK(payload.layout.parameter_count() == 2 + 32 + 16000);
  CHECK(payload.layout.entries.front().spec.name == "head.bias");
}

TEST_CASE("bad models and files are refused with name or line") {
  const test::TempFolder folder;
  const auto fault = [&](const std::string& content) {
    folder.write("shapes.txt", content);
    return test::error_text<DataError>([&] { model_shapes(folder.path() + "/shapes.txt"); });
  };
  for (const char* line : {"w", "w 2x", "w x2", "w 0", "w -1", "w 2 3", "w 2X3", "w 1000000000x1000000000"}) {
    INFO(line);
    CHECK_THAT(fault(std::string("a 1\n") + line + "\n"),
               Catch::Contains("shapes.txt:2: ") && Catch::Contains("SHAPE"));
  }
  CHECK_THAT(fault("a 1\na 2\n"), Catch::Contains("shapes.txt:2: there are two parameters a"));
  CHECK_THAT(fault("# nothing\n"), Catch::Contains("there is no parameter in it"));
  CHECK_THAT(test::error_text<ConfigError>([] { model_shapes("bert-bace"); }),
             Catch::Contains("did you mean bert-base?"));
}

}  // namespace
}  // namespace bertft
