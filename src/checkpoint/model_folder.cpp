#include "checkpoint/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "checkpoint/input_file.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

// What is read, the first that is there: the order of transformers.
constexpr std::array<std::string_view, 4> kReadKinds = {"model.safetensors", "model.safetensors.index.json",
                                                        "pytorch_model.bin", "pytorch_model.bin.index.json"};

// Kinds of weights that are recognized but not read.
struct OtherKind {
  std::string_view file;
  std::string_view what;
  std::string_view conversion;  // Python, with {0} for the folder
};

constexpr std::string_view kFromTensorFlow =
    "AutoModel.from_pretrained('{0}', from_tf=True).save_pretrained('converted', safe_serialization=True), with "
    "transformers below version 5";
constexpr std::string_view kFromFlax =
    "AutoModel.from_pretrained('{0}', from_flax=True).save_pretrained('converted', safe_serialization=True), with "
    "transformers below version 5";
constexpr std::string_view kFromAdapter =
    "AutoPeftModel.from_pretrained('{0}').merge_and_unload().save_pretrained('converted', safe_serialization=True), "
    "with the peft package";

constexpr std::array<OtherKind, 4> kOtherKinds = {
    {{"bert_model.ckpt.index", "a TensorFlow checkpoint", kFromTensorFlow},
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
  const FileBytes content = InputFile::open(file.string()).beginning(512);
  if (const std::string impostor = explain_impostor(content.text(), file.string()); !impostor.empty()) {
    throw CheckpointError(impostor);
  }
  const std::string folder = file.parent_path().empty() ? "." : file.parent_path().string();
  throw CheckpointError(
      fmt::format("{} holds {}: reading these is not in this build. Convert it once in Python with the transformers "
                  "package and copy the tokenizer's files to the new folder (for a classifier write "
                  "AutoModelForSequenceClassification, so that its head is kept): {}",
                  file.string(), kind.what, fmt::format(fmt::runtime(kind.conversion), folder)));
}

// TensorFlow checkpoints have any name before .ckpt: bert_model.ckpt.index, model.ckpt-1000.data-00000-of-00001.
bool is_tensorflow_checkpoint(const std::string& file_name) {
  const size_t at = file_name.find(".ckpt");
  if (at == std::string::npos) return false;
  return file_name.ends_with(".index") || file_name.ends_with(".meta") ||
         file_name.find(".data-", at) != std::string::npos;
}

const OtherKind* find_other_kind(const std::string& file_name) {
  if (is_tensorflow_checkpoint(file_name)) return &kOtherKinds.front();
  const auto* found = std::find_if(kOtherKinds.begin(), kOtherKinds.end(),
                                   [&](const OtherKind& kind) { return kind.file == file_name; });
  return found == kOtherKinds.end() ? nullptr : found;
}

// The names of the files in `folder`, sorted.
std::vector<std::string> file_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Those that may be weights under another name.
std::vector<std::string> possible_weights(const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const std::string end = fs::path(name).extension().string();
    if (end == ".safetensors" || end == ".bin" || end == ".pt" || end == ".pth") found.push_back(name);
  }
  return found;
}

[[noreturn]] void throw_nothing_found(const fs::path& folder, const std::vector<std::string>& names) {
  if (const std::vector<std::string> found = possible_weights(names); !found.empty()) {
    throw CheckpointError(fmt::format(
        "{} has no {}, but other files that may be weights: {}. Give the path of the one that holds the whole model",
        folder.string(), kReadKinds.front(), excerpt(join(found, ", "), 300)));
  }
  std::string looked_for(fmt::format("{}", fmt::join(kReadKinds, ", ")));
  for (const OtherKind& kind : kOtherKinds) looked_for += fmt::format(", {}", kind.file);
  throw CheckpointError(fmt::format(
      "{} holds no weights (looked for {}). Give a folder as transformers' save_pretrained writes it, or the "
      "file of weights itself",
      folder.string(), looked_for));
}

ModelFiles find_in_folder(const fs::path& folder) {
  ModelFiles files{folder.string(), "", {}};
  for (const std::string_view kind : kReadKinds) {
    const fs::path path = folder / kind;
    if (is_dangling_link(path) && files.weights.empty()) throw_dangling(path);
    if (!is_there(path)) continue;
    if (files.weights.empty()) {
      files.weights = path.string();
    } else {
      files.passed_over.emplace_back(kind);
    }
  }
  const std::vector<std::string> names = file_names(folder);
  for (const std::string& name : names) {
    const OtherKind* kind = find_other_kind(name);
    if (kind == nullptr) continue;
    if (files.weights.empty()) throw_other_kind(folder / name, *kind);
    if (kind != &kOtherKinds.front() || name.ends_with(".index")) files.passed_over.push_back(name);
  }
  if (files.weights.empty()) throw_nothing_found(folder, names);
  return files;
}

}  // namespace

ModelFiles find_model_files(const std::string& path) {
  const fs::path given(path);
  std::error_code ignored;
  if (fs::is_directory(given, ignored)) return find_in_folder(given);
  if (is_dangling_link(given)) throw_dangling(given);
  if (!is_there(given)) {
    throw CheckpointError(
        fmt::format("there is no checkpoint at {}. Give a folder with {} or another kind of weights, or such a file; "
                    "names of a model hub are not looked up",
                    path, kReadKinds.front()));
  }
  if (const OtherKind* kind = find_other_kind(given.filename().string())) throw_other_kind(given, *kind);
  const fs::path folder = given.parent_path();
  return {folder.empty() ? "." : folder.string(), path, {}};
}

}  // namespace bertft
