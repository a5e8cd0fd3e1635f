// Models in several files: all tensors of all shards, and one message for each way in which index and shards disagree.
#include "checkpoint/shard_index.h"

#include <filesystem>

#include "checkpoint/safetensors.h"
#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::TempFolder;

const std::vector<float> kA = {1, 2};
const std::vector<float> kB = {3, 4, 5};

// Two shards with a tensor each.
class ShardFolder {
 public:
  ShardFolder() {
    write_safetensors(path("s1.safetensors"), {test::view_of("a", DType::kF32, {2}, kA)});
    write_safetensors(path("s2.safetensors"), {test::view_of("b", DType::kF32, {3}, kB)});
    index(R"({"metadata": {"total_size": 20}, "weight_map": {"a": "s1.safetensors", "b": "s2.safetensors"}})");
  }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string index_path() const { return path("model.safetensors.index.json"); }
  void index(const std::string& text) const { test::write_bytes(index_path(), text); }

  TensorFile open() const { return TensorFile::open(index_path()); }
  std::string error() const {
    return test::checkpoint_error([&] { open(); });
  }
  std::string error_with(const std::string& weight_map) const {
    index(R"({"weight_map": )" + weight_map + "}");
    return error();
  }

 private:
  TempFolder folder_;
};

TEST_CASE("all shards together are one file of weights") {
  const ShardFolder shards;
  const TensorFile file = shards.open();
  REQUIRE(file.tensors().size() == 2);
  CHECK(file.tensors()[0].name == "a");
  CHECK(file.find("b")->shape == std::vector<int64_t>{3});
  CHECK(file.metadata().at("format") == "pt");
  CHECK(file.notes() == std::vector<std::string>{"read from 2 shards"});

  const TempFolder whole;
  write_safetensors(whole / "whole.safetensors", file.tensors());
  CHECK(TensorFile::open(whole / "whole.safetensors").checksum() == file.checksum());
}

TEST_CASE("shards of torch.save and shards in a folder below") {
  const ShardFolder shards;
  std::filesystem::create_directory(shards.path("below"));
  std::filesystem::copy_file("tests/golden/checkpoint/module.bin", shards.path("below/m.bin"));
  shards.index(R"({"weight_map": {"a": "s1.safetensors", "0.weight": "below/m.bin", "0.bias": "below/m.bin",
                                  "1.weight": "below/m.bin", "1.bias": "below/m.bin"}})");
  CHECK(shards.open().tensors().size() == 5);
}

TEST_CASE("index and shards that disagree") {
  const ShardFolder shards;
  const auto with = [&](const std::string& map) { return shards.error_with(map); };
  CHECK_THAT(with(R"({"a": "s1.safetensors", "b": "s3.safetensors"})"),
             Contains("the shard s3.safetensors is missing"));
  CHECK_THAT(with(R"({"a": "s1.safetensors", "b": "s2.safetensors", "c": "s2.safetensors"})"),
             Contains("tensor 'c' is not in s2.safetensors"));
  CHECK_THAT(with(R"({"a": "s2.safetensors", "b": "s1.safetensors"})"),
             Contains("tensor 'a' is listed in s2.safetensors but lies in s1.safetensors"));
  CHECK_THAT(with(R"({"a": "s1.safetensors"})"), Contains("no error"));
  CHECK_THAT(with(R"({"c": "s1.safetensors"})"), Contains("tensor 'a' of s1.safetensors is not listed"));
  write_safetensors(shards.path("s2.safetensors"),
                    {test::view_of("a", DType::kF32, {2}, kA), test::view_of("b", DType::kF32, {3}, kB)});
  CHECK_THAT(with(R"({"a": "s1.safetensors", "b": "s2.safetensors"})"),
             StartsWith(shards.index_path()) && Contains("tensor 'a' is in s1.safetensors and in s2.safetensors"));
}

TEST_CASE("total_size must be that of the tensors") {
  const ShardFolder shards;
  shards.index(R"({"metadata": {"total_size": 24}, "weight_map": {"a": "s1.safetensors", "b": "s2.safetensors"}})");
  CHECK_THAT(shards.error(), Contains("metadata.total_size is 24 bytes, the tensors of the shards have 20"));
  shards.index(R"({"metadata": {"total_size": "20"}, "weight_map": {"a": "s1.safetensors"}})");
  CHECK_THAT(shards.error(), Contains("metadata.total_size is"));
  shards.index(R"({"metadata": {}, "weight_map": {"a": "s1.safetensors", "b": "s2.safetensors"}})");
  CHECK(shards.error() == "no error");
}

TEST_CASE("a shard must lie in the folder of the index") {
  const ShardFolder shards;
  const TempFolder outside;
  std::filesystem::copy_file(shards.path("s1.safetensors"), outside / "s1.safetensors");
  for (const std::string& name : {outside / "s1.safetensors",
                                  "../" + std::filesystem::path(outside.path()).filename().string() + "/s1.safetensors",
                                  std::string("below/../../s1.safetensors"), std::string(".."), std::string(),
                                  std::string("model.safetensors.index.json"), std::string("a\\u0000b")}) {
    INFO(name);
    CHECK_THAT(shards.error_with(R"({"a": ")" + name + R"("})"), Contains("is not a file in the folder of the index"));
  }
}

TEST_CASE("an index that is none") {
  const ShardFolder shards;
  const std::pair<std::string, std::string> cases[] = {
      {"", "not valid JSON"},
      {R"({"weight_map": {"a": )", "not valid JSON"},
      {"[1]", "no weight_map"},
      {"{}", "no weight_map"},
      {R"({"weight_map": ["a"]})", "no weight_map"},
      {R"({"weight_map": {"a": 1}})", "the shard of 'a' is no text"},
      {R"({"weight_map": {"a": "s1.safetensors", "a": "s2.safetensors"}})", "'a' comes twice"},
      {std::string(200000, '['), "not valid JSON"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 1234\n", "Git LFS pointer"},
      {"<html><body>not found</body></html>", "web page"},
  };
  for (const auto& [text, expected] : cases) {
    shards.index(text);
    CHECK_THAT(shards.error(), StartsWith(shards.index_path()) && Contains(expected));
  }
  test::write_bytes(shards.path("s1.safetensors"), "version https://git-lfs.github.com/spec/v1\noid x\nsize 77\n");
  CHECK_THAT(shards.error_with(R"({"a": "s1.safetensors"})"), Contains("s1.safetensors is a Git LFS pointer"));
}

}  // namespace
}  // namespace bertft
