// Checkpoints that the real torch and huggingface_hub converted to every kind of file: each holds, in fp32, exactly
// what torch widens its stored values to. Needs a Python with torch (BERTFT_PYTHON).
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "checkpoint/convert.h"
#include "checkpoint/model_folder.h"
#include "checkpoint/tensor_file.h"
#include "tests/support/python_path.h"
#include "tests/support/run_binary.h"
#include "tests/support/sha256.h"
#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft {
namespace {

// The lines that the script prints for one kind: "name shape digest".
using Lines = std::set<std::string>;

Lines described(const TensorFile& file) {
  Lines lines;
  for (const TensorView& tensor : file.tensors()) {
    if (!is_weight_dtype(tensor.dtype)) continue;
    std::vector<float> values(static_cast<size_t>(element_count(tensor.shape)));
    copy_to_f32(tensor, values.data());
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    lines.insert(fmt::format("{} [{}] {}", tensor.name, fmt::join(tensor.shape, ","), test::sha256_hex(bytes)));
  }
  return lines;
}

// Converts `source` and compares every kind with what torch says of it. Returns how many kinds there were.
size_t compare_kinds(const std::string& python, const std::string& source, const std::vector<std::string>& kinds) {
  const test::TempFolder folder;
  std::vector<std::string> arguments = {"tests/golden/checkpoint/convert_checkpoint.py", source, folder / "out"};
  arguments.insert(arguments.end(), kinds.begin(), kinds.end());
  const test::RunResult said = test::run_program(python, {.arguments = arguments});
  INFO(said.err);
  REQUIRE(said.exit_code == 0);
  std::map<std::string, Lines> expected;
  std::istringstream text(said.out);
  for (std::string kind, line; text >> kind && std::getline(text >> std::ws, line);) expected[kind].insert(line);
  for (const auto& [kind, lines] : expected) {
    INFO(kind);
    const TensorFile file = TensorFile::open(find_model_files(folder / ("out/" + kind)).weights);
    CHECK(described(file) == lines);
  }
  return expected.size();
}

TEST_CASE("checkpoints converted by torch to halves, legacy files and shards hold what torch reads from them") {
  const auto python = test::python_path();
  if (!python) return;
  CHECK(compare_kinds(*python, "tests/golden/numerics/bert_40", {}) == 10);
  const char* minilm = std::getenv("BERTFT_MINILM");
  if (minilm == nullptr || !std::filesystem::exists(minilm)) {
    std::cout
        << "BERTFT_MINILM does not give the model.safetensors of all-MiniLM-L6-v2: the small one alone was tried\n";
    return;
  }
  const std::string source = std::filesystem::path(minilm).parent_path().string();
  CHECK(compare_kinds(*python, source, {"float16_zip", "bfloat16_legacy", "bfloat16_shards", "float16_bin_shards"}) ==
        4);
}

}  // namespace
}  // namespace bertft
