// A run does not see in which kind of file its checkpoint lies: converted by the real torch to a zip archive, an older
// stream or shards, the same weights give the same run, bit for bit; halves give the run of their widened values.
#include <filesystem>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/python_path.h"
#include "tests/support/run_binary.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tests/system/reload_check.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

// The trace of six steps from a checkpoint.
std::string trace_from(const TempFolder& folder, const std::string& checkpoint) {
  const std::string config = folder.write(
      "c.yaml", "model: {checkpoint: " + fs::absolute(checkpoint).string() + ", max_length: 24}\ndata: {train: " +
                    fs::absolute("tests/golden/numerics/train_single.tsv").string() +
                    "}\ntrain: {max_steps: 6}\nthreads: 1\noutput: {dir: run}\n");
  require_success(run_binary({"--config", config, "--overwrite", "--trace", folder / "trace"}));
  return read_file(folder / "trace");
}

TEST_CASE("a checkpoint in any kind of file gives the same run, bit for bit") {
  const auto python = python_path();
  if (!python) return;
  const TempFolder folder;
  const std::string source = "tests/golden/numerics/bert_40";
  const std::vector<std::string> kinds = {"float32_zip", "float32_legacy", "float32_shards",
                                          "float16_zip", "float16_legacy", "float16_bin_shards"};
  std::vector<std::string> arguments = {"tests/golden/checkpoint/convert_checkpoint.py", source, folder / "out"};
  arguments.insert(arguments.end(), kinds.begin(), kinds.end());
  require_success(run_program(*python, {.arguments = arguments}));

  const std::string expected = trace_from(folder, source);
  REQUIRE(expected.find("\"step\":6") != std::string::npos);
  const auto trace_of = [&](const std::string& kind) {
    INFO(kind);
    const std::string checkpoint = folder / ("out/" + kind);
    CHECK_THAT(require_success(run_binary({"inspect", checkpoint})), Contains("100 % of the encoder"));
    return trace_from(folder, checkpoint);
  };
  for (const char* kind : {"float32_zip", "float32_legacy", "float32_shards"}) CHECK(trace_of(kind) == expected);
  const std::string halves = trace_of("float16_zip");
  CHECK(halves != expected);
  CHECK(trace_of("float16_legacy") == halves);
  CHECK(trace_of("float16_bin_shards") == halves);
}

}  // namespace
}  // namespace bertft::test
