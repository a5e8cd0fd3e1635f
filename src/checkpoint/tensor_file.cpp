#include "checkpoint/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "checkpoint/safetensors.h"
#include "checkpoint/shard_index.h"
#include "checkpoint/torch_file.h"
#include "core/hash.h"

namespace bertft {
namespace {

constexpr std::array<std::string_view, 2> kWrapperPrefixes = {"module.", "_orig_mod."};

// Trainers that wrap a model put a word before every name. Only when it is before all of them is it such a word.
void strip_wrapper_prefixes(LoadedTensors& loaded) {
  std::vector<TensorView>& tensors = loaded.table.tensors;
  const auto all_begin_with = [&](std::string_view prefix) {
    return !tensors.empty() &&
           std::all_of(tensors.begin(), tensors.end(), [&](const TensorView& t) { return t.name.starts_with(prefix); });
  };
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (const std::string_view prefix : kWrapperPrefixes) {
      if (!all_begin_with(prefix)) continue;
      for (TensorView& tensor : tensors) tensor.name.erase(0, prefix.size());
      loaded.notes.push_back(fmt::format("all names begin with {}, which is left out", prefix));
      is_done = false;
    }
  }
}

}  // namespace

TensorFile::TensorFile(std::string path, LoadedTensors loaded) : path_(std::move(path)), loaded_(std::move(loaded)) {}

LoadedTensors read_weights_file(const std::string& path) {
  const InputFile file = InputFile::open(path);
  return is_torch_file(file) ? read_torch_file(file) : read_safetensors(file);
}

TensorFile TensorFile::open(const std::string& path) {
  LoadedTensors loaded = path.ends_with(kIndexEnd) ? read_shards(path) : read_weights_file(path);
  strip_wrapper_prefixes(loaded);
  return {path, std::move(loaded)};
}

const TensorView* TensorFile::find(std::string_view name) const {
  const auto found = std::lower_bound(tensors().begin(), tensors().end(), name,
                                      [](const TensorView& tensor, std::string_view n) { return tensor.name < n; });
  return found != tensors().end() && found->name == name ? &*found : nullptr;
}

uint64_t TensorFile::checksum() const {
  uint64_t hash = 0;
  for (const TensorView& tensor : tensors()) {
    hash = hash64(tensor.name, hash);
    hash = hash64(dtype_name(tensor.dtype), hash);
    hash = hash64(tensor.shape.data(), tensor.shape.size() * sizeof(int64_t), hash);
    hash = hash64(tensor.data, tensor.bytes, hash);
  }
  return hash;
}

}  // namespace bertft
