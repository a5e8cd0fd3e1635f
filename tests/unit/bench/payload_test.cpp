#include "bench/payload.h"

#include <set>

#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

TEST_CASE("models have the tensors and parameters of the published ones, with the pooler") {
  const Payload base = model_payload("bert-base");
  CHECK(base.tensors.size() == 199);
  CHECK(base.parameters() == 109'482'240);
  CHECK(base.bytes() == 437'928'960);
  const Payload mini = model_payload("minilm");
  CHECK(mini.tensors.size() == 103);
  CHECK(mini.parameters() == 22'713'216);
  const Payload small = model_payload("bert-small");
  CHECK(small.tensors.size() == 71);
  CHECK(small.parameters() == 28'763'648);
}

TEST_CASE("the parameters of a model stand in the order in which backward finishes them") {
  const std::vector<ParameterSpec> specs = model_shapes("minilm");
  CHECK(specs.front().name == "pooler.dense.bias");
  CHECK(specs[2].name == "encoder.layer.5.output.LayerNorm.weight");
  CHECK(specs.back().name == "embeddings.word_embeddings.weight");
  CHECK(specs.back().shape == std::vector<int64_t>{30522, 384});
  const Layout layout = make_layout(specs, kUnitPerParameter);
  const LayoutEntry& query =
      layout.entries[static_cast<size_t>(layout.find("encoder.layer.0.attention.self.query.weight"))];
  const LayoutEntry& key =
      layout.entries[static_cast<size_t>(layout.find("encoder.layer.0.attention.self.key.weight"))];
  CHECK(key.offset == query.offset + query.size);
  std::set<std::string> names;
  for (const ParameterSpec& spec : specs) names.insert(spec.name);
  CHECK(names.size() == specs.size());
}

TEST_CASE("a flat buffer is one tensor, whose end is aligned in memory") {
  const Payload payload = flat_payload(64 << 20);
  CHECK(payload.name == "64M");
  CHECK(payload.tensors.size() == 1);
  CHECK(payload.summed_bytes() == 64 << 20);
  CHECK(flat_payload(4).bytes() == 4);
  CHECK(flat_payload(4).summed_bytes() == 64);
}

TEST_CASE("a file of names and shapes is a model") {
  const test::TempFolder folder;
  folder.write("shapes.txt", "# backward order\nhead.bias 2\nhead.weight 2x16\n\n  table   1000x16\n");
  const Payload payload = model_payload(folder.path() + "/shapes.txt");
  CHECK(payload.tensors.size() == 3);
  CHECK(payload.parameters() == 2 + 32 + 16000);
  CHECK(payload.tensors.front().name == "head.bias");
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
