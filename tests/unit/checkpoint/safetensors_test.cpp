// What is valid: round trips, unusual headers, and files that the real safetensors package reads and would write.
#include "checkpoint/safetensors.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "checkpoint/convert.h"
#include "core/error.h"
#include "core/files.h"
#include "tests/support/python_path.h"
#include "tests/support/sha256.h"
#include "tests/support/shared_data.h"
#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft {
namespace {

using test::entry;
using test::safetensors_bytes;
using test::TempFolder;
using test::view_of;

std::string_view bytes_of(const TensorView& tensor) {
  return {reinterpret_cast<const char*>(tensor.data), tensor.bytes};
}

// Tensors of several types, among them a scalar and an empty one, deliberately not in any order.
struct Sample {
  std::vector<float> weight = {1.0f, -2.5f, 3e-42f, 0.0f, -0.0f, 1e30f};
  std::vector<double> wide = {0.1, -1e300};
  std::vector<int64_t> ids = {-1, 0, INT64_MAX};
  std::vector<uint16_t> half = {0x3c00, 0x0001, 0x7e00};
  std::vector<uint8_t> flags = {1, 0, 1, 1, 0};
  std::vector<float> nothing;
  std::vector<TensorView> views = {view_of("b.weight", DType::kF32, {2, 3}, weight),
                                   view_of("flags", DType::kBool, {5}, flags),
                                   view_of("\xC3\xA9 \"quoted\"", DType::kF16, {3}, half),
                                   view_of("wide", DType::kF64, {2, 1}, wide),
                                   view_of("a.empty", DType::kF32, {0, 3}, nothing),
                                   view_of("ids", DType::kI64, {1, 3}, ids),
                                   view_of("brain", DType::kBF16, {3, 1}, half)};
};

TEST_CASE("a written file reads back the same") {
  const TempFolder folder;
  const Sample sample;
  const std::string path = folder / "model.safetensors";
  write_safetensors(path, sample.views, {{"format", "pt"}, {"note", "brace } quote \" \xC3\xA9"}});

  const TensorFile file = TensorFile::open(path);
  CHECK(file.path() == path);
  CHECK(file.metadata().at("note") == "brace } quote \" \xC3\xA9");
  REQUIRE(file.tensors().size() == sample.views.size());
  CHECK(std::is_sorted(file.tensors().begin(), file.tensors().end(),
                       [](const TensorView& a, const TensorView& b) { return a.name < b.name; }));
  for (const TensorView& written : sample.views) {
    const TensorView* read = file.find(written.name);
    REQUIRE(read != nullptr);
    CHECK(read->dtype == written.dtype);
    CHECK(read->shape == written.shape);
    CHECK(bytes_of(*read) == bytes_of(written));
    CHECK(reinterpret_cast<uintptr_t>(read->data) % dtype_bytes(read->dtype) == 0);
  }
  CHECK(file.find("b.weigh") == nullptr);
  CHECK(file.find("zzz") == nullptr);
  CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST_CASE("writing depends on nothing but the tensors") {
  const TempFolder folder;
  const Sample sample;
  std::vector<TensorView> reversed(sample.views.rbegin(), sample.views.rend());
  write_safetensors(folder / "a", sample.views);
  write_safetensors(folder / "b", reversed);
  const std::string bytes = read_file(folder / "a");
  CHECK(bytes == read_file(folder / "b"));
  CHECK(static_cast<unsigned char>(bytes[0]) % 8 == 0);
  CHECK(bytes.substr(8, 32) == R"({"__metadata__":{"format":"pt"},)");
}

TEST_CASE("files without tensors and without metadata are valid") {
  const TempFolder folder;
  write_safetensors(folder / "empty", {}, {});
  CHECK(read_file(folder / "empty") == safetensors_bytes("{}      ", ""));
  const TensorFile file = TensorFile::open(folder / "empty");
  CHECK(file.tensors().empty());
  CHECK(file.metadata().empty());
  CHECK(file.find("") == nullptr);
}

TEST_CASE("the writer refuses what would make a broken file") {
  const TempFolder folder;
  const std::vector<float> values = {1, 2};
  const TensorView good = view_of("a", DType::kF32, {2}, values);
  CHECK_THROWS_AS(write_safetensors(folder / "x", {good, good}), InternalError);
  CHECK_THROWS_AS(write_safetensors(folder / "x", {view_of("__metadata__", DType::kF32, {2}, values)}), InternalError);
  CHECK_THROWS_AS(write_safetensors(folder / "x", {view_of("a", DType::kF32, {3}, values)}), InternalError);
  CHECK_THROWS_AS(write_safetensors(folder / "absent/x", {good}), ResourceError);
  CHECK_FALSE(std::filesystem::exists(folder / "x"));
}

TEST_CASE("the checksum sees tensors, not their order in the file") {
  const auto checksum_of = [](const std::string& json, std::string_view data) {
    const TempFolder folder;
    test::write_bytes(folder / "f", safetensors_bytes(json, data));
    return TensorFile::open(folder / "f").checksum();
  };
  const std::string_view data("aaaabbbb");
  const uint64_t sum =
      checksum_of("{" + entry("x", "F32", "[1]", 0, 4) + "," + entry("y", "F32", "[1]", 4, 8) + "}", data);
  CHECK(sum ==
        checksum_of("{" + entry("y", "F32", "[1]", 0, 4) + "," + entry("x", "F32", "[1]", 4, 8) + "}  ", "bbbbaaaa"));
  CHECK(sum !=
        checksum_of("{" + entry("x", "F32", "[1]", 0, 4) + "," + entry("y", "F32", "[1]", 4, 8) + "}", "aaaabbbc"));
  CHECK(sum != checksum_of("{" + entry("x", "F32", "[1]", 0, 4) + "," + entry("z", "F32", "[1]", 4, 8) + "}", data));
  CHECK(sum != checksum_of("{" + entry("x", "F32", "[]", 0, 4) + "," + entry("y", "F32", "[1]", 4, 8) + "}", data));
  CHECK(sum != checksum_of("{" + entry("x", "I32", "[1]", 0, 4) + "," + entry("y", "F32", "[1]", 4, 8) + "}", data));
}

TEST_CASE("unusual but valid headers") {
  const std::vector<float> values = {1.5f, -2.0f, 4.25f};
  const std::string floats(reinterpret_cast<const char*>(values.data()), 12);
  const std::string w = entry("w", "F32", "[3]", 0, 12);
  struct Case {
    const char* what;
    std::string json;
    std::string data;
    size_t tensors;
  };
  const std::vector<Case> cases = {
      {"no metadata", "{" + w + "}", floats, 1},
      {"empty metadata", R"({"__metadata__":{},)" + w + "}", floats, 1},
      {"metadata last", "{" + w + R"(,"__metadata__":{"format":"pt"}})", floats, 1},
      {"metadata with braces and escapes", R"({"__metadata__":{"format":"pt","n":"} \" \u00e9 {"},)" + w + "}", floats,
       1},
      {"64 blanks behind", "{" + w + "}" + std::string(64, ' '), floats, 1},
      {"blanks and line breaks inside",
       "{\n \"w\" : { \"shape\" : [ 3 ] , \"data_offsets\" : [ 0 , 12 ],\t\"dtype\" : \"F32\" } }\n", floats, 1},
      {"reverse order, unaligned", "{" + entry("w", "F32", "[3]", 3, 15) + "," + entry("u", "U8", "[3]", 0, 3) + "}",
       "xyz" + floats, 2},
      {"an empty tensor behind the last byte", "{" + entry("e", "F32", "[0,3]", 12, 12) + "," + w + "}", floats, 2},
      {"an empty tensor before the first byte", "{" + entry("e", "F32", "[3,0]", 0, 0) + "," + w + "}", floats, 2},
      {"a scalar", "{" + entry("w", "F32", "[]", 0, 4) + "," + entry("x", "F32", "[2,1,1]", 4, 12) + "}", floats, 2},
      {"an escaped and an empty name",
       R"({"\u0077":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)" + entry("", "U8", "[0]", 0, 0) + "}", floats,
       2},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    const std::string bytes = safetensors_bytes(c.json, c.data);
    const TensorTable table = parse_safetensors(bytes, "file");
    REQUIRE(table.tensors.size() == c.tensors);
    for (const TensorView& tensor : table.tensors) {
      if (tensor.name != "w") continue;
      std::vector<float> read(static_cast<size_t>(element_count(tensor.shape)));
      copy_to_f32(tensor, read.data());
      CHECK(std::memcmp(read.data(), values.data(), read.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("B17: the published variants of a header hold the same tensors") {
  const auto folder = test::shared_path("field_cases/B17");
  if (!folder) return;
  const TensorFile plain = TensorFile::open(*folder + "/empty_metadata.safetensors");
  const TensorFile reversed = TensorFile::open(*folder + "/no_metadata_reversed.safetensors");
  const TensorFile text = TensorFile::open(*folder + "/text_metadata.safetensors");
  CHECK(plain.tensors().size() == 25);
  CHECK(plain.metadata().empty());
  CHECK(reversed.tensors().size() == 27);
  CHECK(text.metadata().at("note") == "brace } quote \\\" and \xC3\xA9");
  CHECK(plain.checksum() == text.checksum());
  for (const TensorView& tensor : plain.tensors()) {
    INFO(tensor.name);
    REQUIRE(reversed.find(tensor.name) != nullptr);
    CHECK(bytes_of(*reversed.find(tensor.name)) == bytes_of(tensor));
    CHECK(first_non_finite(tensor) == -1);
  }
  const TensorView* positions = reversed.find("bert.embeddings.position_ids");
  REQUIRE(positions != nullptr);
  CHECK(positions->dtype == DType::kI64);
  CHECK(reversed.find("bert.empty")->shape == std::vector<int64_t>{0, 3});
}

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) output += buffer.data();
  ::pclose(pipe);
  return output;
}

TEST_CASE("the real package reads what we write, and writes the same bytes") {
  const auto python = test::python_path();
  if (!python) return;
  const TempFolder folder;
  const Sample sample;
  const std::string path = folder / "model.safetensors";
  write_safetensors(path, sample.views);
  const std::string output = output_of(*python + " tests/golden/check_safetensors.py " + path);
  INFO(output);
  const auto digest = [&](size_t i) { return test::sha256_hex(bytes_of(sample.views[i])); };
  CHECK(output.find("b.weight float32 [2, 3] " + digest(0) + "\n") != std::string::npos);
  CHECK(output.find("flags bool [5] " + digest(1) + "\n") != std::string::npos);
  CHECK(output.find("\xC3\xA9 \"quoted\" float16 [3] " + digest(2) + "\n") != std::string::npos);
  CHECK(output.find("wide float64 [2, 1] " + digest(3) + "\n") != std::string::npos);
  CHECK(output.find("a.empty float32 [0, 3] " + digest(4) + "\n") != std::string::npos);
  CHECK(output.find("ids int64 [1, 3] " + digest(5) + "\n") != std::string::npos);
  CHECK(output.find("brain bfloat16 [3, 1] " + digest(6) + "\n") != std::string::npos);
  CHECK(output.find("{\"format\": \"pt\"}\nidentical\n") != std::string::npos);
}

}  // namespace
}  // namespace bertft
