#include "checkpoint/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWeights = "model.safetensors";

// Kinds of weights that are recognized but not read.
struct OtherKind {
  std::string_view file;
  std::string_view what;
  std::string_view conversion;  // Python, with {0} for the folder
};

constexpr std::string_view kSave =
    "AutoModel.from_pretrained('{0}').save_pretrained('converted', safe_serialization=True)";
constexpr std::string_view kSaveWhole =
    "AutoModel.from_pretrained('{0}').save_pretrained('converted', safe_serialization=True, max_shard_size='100GB')";
constexpr std::string_view kFromTensorFlow =
    "AutoModel.from_pretrained('{0}', from_tf=True).save_pretrained('converted', safe_serialization=True), with "
    "transformers below version 5";
constexpr std::string_view kFromFlax =
    "AutoModel.from_pretrained('{0}', from_flax=True).save_pretrained('converted', safe_serialization=True), with "
    "transformers below version 5";
constexpr std::string_view kFromAdapter =
    "AutoPeftModel.from_pretrained('{0}').merge_and_unload().save_pretrained('converted', safe_serialization=True), "
    "with the peft package";

constexpr std::array<OtherKind, 7> kOtherKinds = {
    {{"model.safetensors.index.json", "safetensors in several shards", kSaveWhole},
     {"pytorch_model.bin", "PyTorch weights (pickle)", kSave},
     {"pytorch_model.bin.index.json", "PyTorch weights (pickle) in several shards", kSaveWhole},
     {"bert_model.ckpt.index", "a TensorFlow checkpoint", kFromTensorFlow},
     {"tf_model.h5", "TensorFlow weights (HDF5)", kFromTensorFlow},
     {"flax_model.msgpack", "Flax weights", kFromFlax},
     {"adapter_model.safetensors", "an adapter without its base model", kFromAdapter}}};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_dangling_link(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(path, ignored) && !fs::exists(path, ignored);
}

[[noreturn]] void throw_dangling(const fs::path& path) {
  std::error_code ignored;
  throw CheckpointError(fmt::format("{} is a link to {}, which is not there. Copy the file itself, following links",
                                    path.string(), fs::read_symlink(path, ignored).string()));
}

[[noreturn]] void throw_other_kind(const fs::path& file, const OtherKind& kind) {
  const MappedFile content(file.string());
  if (const std::string impostor = explain_impostor(content.text().substr(0, 512), file.string()); !impostor.empty()) {
    throw CheckpointError(impostor);
  }
  const std::string folder = file.parent_path().empty() ? "." : file.parent_path().string();
  throw CheckpointError(fmt::format(
      "{} holds {}: reading these is not in this build, {} is needed. Convert it once in Python with the transformers "
      "package and copy the tokenizer's files to the new folder (for a classifier write "
      "AutoModelForSequenceClassification, so that its head is kept): {}",
      file.string(), kind.what, kWeights, fmt::format(fmt::runtime(kind.conversion), folder)));
}

const OtherKind* find_other_kind(const std::string& file_name) {
  const auto* found = std::find_if(kOtherKinds.begin(), kOtherKinds.end(),
                                   [&](const OtherKind& kind) { return kind.file == file_name; });
  return found == kOtherKinds.end() ? nullptr : found;
}

// Names of files in `folder` with the extension of safetensors, sorted.
std::vector<std::string> other_safetensors(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".safetensors") names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

[[noreturn]] void throw_nothing_found(const fs::path& folder) {
  if (const std::vector<std::string> names = other_safetensors(folder); !names.empty()) {
    throw CheckpointError(fmt::format(
        "{} has no {}, but other safetensors files: {}. Give the path of the one that holds the whole model",
        folder.string(), kWeights, excerpt(join(names, ", "), 300)));
  }
  std::string looked_for(kWeights);
  for (const OtherKind& kind : kOtherKinds) looked_for += fmt::format(", {}", kind.file);
  throw CheckpointError(fmt::format(
      "{} holds no weights (looked for {}). Give a folder as transformers' save_pretrained writes it, or the "
      "safetensors file itself",
      folder.string(), looked_for));
}

ModelFiles find_in_folder(const fs::path& folder) {
  const fs::path weights = folder / kWeights;
  if (is_there(weights)) return {folder.string(), weights.string()};
  if (is_dangling_link(weights)) throw_dangling(weights);
  for (const OtherKind& kind : kOtherKinds) {
    if (is_there(folder / kind.file)) throw_other_kind(folder / kind.file, kind);
  }
  throw_nothing_found(folder);
}

}  // namespace

ModelFiles find_model_files(const std::string& path) {
  const fs::path given(path);
  std::error_code ignored;
  if (fs::is_directory(given, ignored)) return find_in_folder(given);
  if (is_dangling_link(given)) throw_dangling(given);
  if (!is_there(given)) {
    throw CheckpointError(fmt::format(
        "there is no checkpoint at {}. Give a folder with {}, or such a file; names of a model hub are not looked up",
        path, kWeights));
  }
  if (const OtherKind* kind = find_other_kind(given.filename().string())) throw_other_kind(given, *kind);
  const fs::path folder = given.parent_path();
  return {folder.empty() ? "." : folder.string(), path};
}

}  // namespace bertft
