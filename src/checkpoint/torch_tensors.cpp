#include "checkpoint/torch_tensors.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "checkpoint/safetensors_header.h"
#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr uint64_t kFreeCopyBytes = uint64_t{64} << 20;
constexpr uint64_t kCopiesPerFile = 4;

// Goes through the elements in row-major order. REQUIRES at least one element.
FileBytes copy_row_major(const TorchTensor& tensor, const std::byte* storage) {
  const size_t width = dtype_bytes(tensor.dtype);
  const auto count = static_cast<size_t>(tensor.elements());
  FileBytes copy{std::make_unique_for_overwrite<std::byte[]>(count * width), count * width};
  std::vector<int64_t> index(tensor.shape.size(), 0);
  int64_t place = tensor.offset;
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(copy.data.get() + i * width, storage + static_cast<size_t>(place) * width, width);
    for (size_t axis = index.size(); axis-- > 0;) {
      place += tensor.strides[axis];
      if (++index[axis] < tensor.shape[axis]) break;
      place -= tensor.shape[axis] * tensor.strides[axis];
      index[axis] = 0;
    }
  }
  return copy;
}

// Before anything is read: stride 0 lets a few bytes claim any size.
void check_copies(const StateDict& state, const InputFile& file) {
  uint64_t copies = 0;
  for (const TorchTensor& tensor : state.tensors) {
    if (tensor.is_contiguous()) continue;
    const bool is_too_large =
        __builtin_add_overflow(copies, static_cast<uint64_t>(tensor.elements()) * dtype_bytes(tensor.dtype), &copies);
    if (is_too_large || copies > kFreeCopyBytes + kCopiesPerFile * file.size()) {
      throw_broken(file.path(),
                   fmt::format("tensor '{}' of shape {} repeats its storage to far more than the file's size",
                               excerpt(tensor.name, 200), shape_text(tensor.shape)),
                   "Save contiguous tensors: tensor.contiguous()");
    }
  }
}

}  // namespace

LoadedTensors load_torch_tensors(const StateDict& state, const TorchStorages& storages, const InputFile& file,
                                 const StorageReader& read_storage) {
  check_copies(state, file);
  LoadedTensors loaded;
  loaded.notes = state.notes;
  std::map<std::string_view, const std::byte*> read;
  for (const TorchTensor& tensor : state.tensors) {
    const TorchStorage& storage = storages.at(tensor.key);
    const size_t width = dtype_bytes(tensor.dtype);
    const auto count = static_cast<size_t>(tensor.elements());
    TensorView view{tensor.name, tensor.dtype, tensor.shape, nullptr, count * width};
    if (count > 0) {
      const auto [place, is_new] = read.emplace(tensor.key, nullptr);
      if (is_new) {
        loaded.memory.push_back(read_storage(tensor.key, storage));
        check(loaded.memory.back().size == storage.bytes(), "a storage must be read whole");
        place->second = loaded.memory.back().data.get();
      }
      view.data = place->second + static_cast<size_t>(tensor.offset) * width;
      if (!tensor.is_contiguous()) {
        loaded.memory.push_back(copy_row_major(tensor, place->second));
        view.data = loaded.memory.back().data.get();
      }
    }
    loaded.table.tensors.push_back(std::move(view));
  }
  return loaded;
}

}  // namespace bertft
