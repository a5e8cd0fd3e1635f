// Which file is taken from a folder, and what is said of those that this build does not read.
#include "checkpoint/model_folder.h"

#include <filesystem>

#include "checkpoint/tensor_file.h"
#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft {
namespace {

using Catch::Matchers::Contains;
using test::checkpoint_error;
using test::TempFolder;
using test::write_bytes;

std::string error_of(const std::string& path) {
  return checkpoint_error([&] { find_model_files(path); });
}

TEST_CASE("a folder or a file gives the weights and their folder") {
  const TempFolder folder;
  write_bytes(folder / "model.safetensors", "x");
  write_bytes(folder / "pytorch_model.bin", "y");
  const ModelFiles by_folder = find_model_files(folder.path());
  CHECK(by_folder.folder == folder.path());
  CHECK(by_folder.weights == folder / "model.safetensors");
  CHECK(by_folder.passed_over == std::vector<std::string>{"pytorch_model.bin"});
  write_bytes(folder / "other.safetensors", "z");
  const ModelFiles by_file = find_model_files(folder / "other.safetensors");
  CHECK(by_file.folder == folder.path());
  CHECK(by_file.weights == folder / "other.safetensors");
}

TEST_CASE("of several kinds the first is taken, and the others are named") {
  const TempFolder folder;
  const auto taken = [&] { return std::filesystem::path(find_model_files(folder.path()).weights).filename().string(); };
  for (const char* name :
       {"tf_model.h5", "bert_model.ckpt.index", "bert_model.ckpt.data-00000-of-00001", "pytorch_model.bin.index.json",
        "pytorch_model.bin", "model.safetensors.index.json", "model.safetensors"}) {
    write_bytes(folder / name, "x");
    if (std::string(name).find("model.") == 0 || std::string(name).find("pytorch") == 0) CHECK(taken() == name);
  }
  CHECK(find_model_files(folder.path()).passed_over ==
        std::vector<std::string>{"model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json",
                                 "bert_model.ckpt.index", "tf_model.h5"});
}

TEST_CASE("other kinds of weights are named, with the way to convert them") {
  struct Case {
    const char* file;
    const char* what;
    const char* how;
  };
  const Case cases[] = {{"bert_model.ckpt.index", "a TensorFlow checkpoint", "from_tf=True"},
                        {"model.ckpt-1000.index", "a TensorFlow checkpoint", "from_tf=True"},
                        {"tf_model.h5", "TensorFlow weights (HDF5)", "from_tf=True"},
                        {"flax_model.msgpack", "Flax weights", "from_flax=True"},
                        {"adapter_model.safetensors", "an adapter without its base model", "merge_and_unload"}};
  for (const Case& c : cases) {
    INFO(c.file);
    const TempFolder folder;
    write_bytes(folder / c.file, "bytes");
    for (const std::string& path : {folder.path(), folder / c.file}) {
      const std::string message = error_of(path);
      CHECK_THAT(message, Contains(folder / c.file));
      CHECK_THAT(message, Contains(c.what));
      CHECK_THAT(message, Contains("not in this build"));
      CHECK_THAT(message, Contains("from_pretrained('" + folder.path() + "'"));
      CHECK_THAT(message, Contains(c.how));
    }
  }
}

TEST_CASE("nothing there: what was looked for") {
  const TempFolder folder;
  const std::string message = error_of(folder.path());
  CHECK_THAT(message, Contains("holds no weights (looked for model.safetensors, model.safetensors.index.json, "));
  CHECK_THAT(message, Contains("flax_model.msgpack"));
  CHECK_THAT(error_of(folder / "bert-base-uncased"), Contains("there is no checkpoint at"));
  CHECK_THAT(error_of("bert-base-uncased"), Contains("names of a model hub are not looked up"));
  CHECK_THAT(error_of(""), Contains("there is no checkpoint at"));

  write_bytes(folder / "model.fp16.safetensors", "x");
  CHECK_THAT(error_of(folder.path()), Contains("other files that may be weights: model.fp16.safetensors"));
}

TEST_CASE("a link whose target is gone is called that") {
  const TempFolder folder;
  std::filesystem::create_symlink("../blobs/0a1b", folder / "model.safetensors");
  CHECK_THAT(error_of(folder.path()), Contains("is a link to ../blobs/0a1b, which is not there"));
  CHECK_THAT(error_of(folder / "model.safetensors"), Contains("which is not there"));
}

TEST_CASE("a pointer or a web page in place of weights") {
  for (const char* name : {"tf_model.h5", "pytorch_model.bin", "model.safetensors", "pytorch_model.bin.index.json"}) {
    INFO(name);
    const TempFolder folder;
    const auto error = [&] {
      return checkpoint_error([&] { TensorFile::open(find_model_files(folder.path()).weights); });
    };
    write_bytes(folder / name, "version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 437999801\n");
    CHECK_THAT(error(), Contains("Git LFS pointer") && Contains("437999801"));
    write_bytes(folder / name, "<html><body>not found</body></html>");
    CHECK_THAT(error(), Contains("web page"));
  }
}

}  // namespace
}  // namespace bertft
