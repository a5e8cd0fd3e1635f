// Files that the real torch.save wrote (tests/golden/checkpoint): every tensor of every kind, byte for byte, and every
// refusal by its reason. The hostile ones would make a file in the working folder if anything of them were executed.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "checkpoint/crc32.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor_file.h"
#include "core/files.h"
#include "tests/support/sha256.h"
#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Json = nlohmann::json;

const std::string kFolder = "tests/golden/checkpoint/";

Json expected_files() { return Json::parse(read_file(kFolder + "expected.json")); }

Json description_of(const TensorFile& file) {
  Json tensors = Json::array();
  for (const TensorView& tensor : file.tensors()) {
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.data), tensor.bytes);
    tensors.push_back({tensor.name, dtype_name(tensor.dtype), tensor.shape, test::sha256_hex(bytes)});
  }
  return tensors;
}

TEST_CASE("files of torch.save hold the tensors that torch put into them") {
  int files = 0;
  const Json all = expected_files();
  for (const auto& [name, expected] : all.items()) {
    if (!expected.contains("tensors")) continue;
    INFO(name);
    const TensorFile file = TensorFile::open(kFolder + name);
    CHECK(description_of(file) == expected["tensors"]);
    ++files;
  }
  CHECK(files == 14);
}

TEST_CASE("hostile and unknown files are refused by name and nothing is executed") {
  int files = 0;
  const Json all = expected_files();
  for (const auto& [name, expected] : all.items()) {
    if (!expected.contains("refused")) continue;
    INFO(name);
    const std::string message = test::checkpoint_error([&] { TensorFile::open(kFolder + name); });
    CHECK_THAT(message, StartsWith(kFolder + name));
    CHECK_THAT(message, Contains(expected["refused"].get<std::string>()));
    CHECK(message.size() < 700);
    if (name.starts_with("hostile")) CHECK_THAT(message, Contains("Nothing of it was executed"));
    ++files;
  }
  CHECK(files == 22);
  CHECK_FALSE(std::filesystem::exists("bertft_code_was_executed"));
}

TEST_CASE("equal tensors have one checksum in every kind of file") {
  const uint64_t checksum = TensorFile::open(kFolder + "zip.bin").checksum();
  for (const char* name : {"zip_protocol_3.bin", "zip_protocol_5.bin", "zip_without_checksums.bin", "legacy.bin",
                           "legacy_protocol_4.bin"}) {
    INFO(name);
    CHECK(TensorFile::open(kFolder + name).checksum() == checksum);
  }
  const test::TempFolder folder;
  write_safetensors(folder / "same.safetensors", TensorFile::open(kFolder + "legacy.bin").tensors());
  CHECK(TensorFile::open(folder / "same.safetensors").checksum() == checksum);
  CHECK(TensorFile::open(kFolder + "module.bin").checksum() != checksum);
}

TEST_CASE("views of one storage share its memory, and only what is not contiguous is copied") {
  const TensorFile file = TensorFile::open(kFolder + "zip.bin");
  const std::byte* whole = file.find("view.whole")->data;
  CHECK(file.find("view.tied")->data == whole);
  CHECK(file.find("view.row")->data == whole + 2 * 3 * sizeof(float));
  CHECK(file.find("view.transposed")->data != whole);
  CHECK(file.find("empty")->bytes == 0);
}

TEST_CASE("what was opened or left out on the way is noted") {
  const auto notes_of = [](const std::string& name) { return TensorFile::open(kFolder + name).notes(); };
  CHECK(notes_of("module.bin").empty());
  REQUIRE(notes_of("trainer_model.bin").size() == 1);
  CHECK_THAT(notes_of("trainer_model.bin")[0], Contains("the weights lie under 'model'"));
  REQUIRE(notes_of("with_others.bin").size() == 1);
  CHECK_THAT(notes_of("with_others.bin")[0], Contains("step (a number), nothing (None)"));
  REQUIRE(notes_of("data_parallel.bin").size() == 1);
  CHECK_THAT(notes_of("data_parallel.bin")[0], Contains("all names begin with module."));
}

TEST_CASE("a kind of file is told from its content, not from its name") {
  const test::TempFolder folder;
  std::filesystem::copy_file(kFolder + "zip.bin", folder / "model.safetensors");
  CHECK(TensorFile::open(folder / "model.safetensors").tensors().size() > 10);
  test::write_bytes(folder / "pytorch_model.bin",
                    test::safetensors_bytes("{" + test::entry("a", "F32", "[2]", 0, 8) + "}", "12345678"));
  CHECK(TensorFile::open(folder / "pytorch_model.bin").tensors().size() == 1);
  for (const char* name : {"pytorch_model.bin", "model.pt", "model.pth"}) {
    test::write_bytes(folder / name, "\x89HDF\r\n\x1a\n");
    CHECK_THAT(test::checkpoint_error([&] { TensorFile::open(folder / name); }), Contains("It is an HDF5 file"));
    test::write_bytes(folder / name, "");
    CHECK_THAT(test::checkpoint_error([&] { TensorFile::open(folder / name); }), Contains("the file is empty"));
    test::write_bytes(folder / name, "version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 437999801\n");
    CHECK_THAT(test::checkpoint_error([&] { TensorFile::open(folder / name); }), Contains("Git LFS pointer"));
  }
}

TEST_CASE("the checksum of zip archives is that of the standard") {
  const auto crc_of = [](std::string_view text) {
    return crc32(reinterpret_cast<const std::byte*>(text.data()), text.size());
  };
  CHECK(crc_of("") == 0);
  CHECK(crc_of("123456789") == 0xCBF43926u);
  CHECK(crc_of("The quick brown fox jumps over the lazy dog") == 0x414FA339u);
}

}  // namespace
}  // namespace bertft
