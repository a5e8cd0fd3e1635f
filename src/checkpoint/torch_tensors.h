// Brings the tensors of a state dict into memory: each storage is read once, views share it, and a tensor that does not
// lie row by row is copied so that it does.
#pragma once

#include <functional>
#include <string_view>

#include "checkpoint/tensor_file.h"
#include "checkpoint/torch_state_dict.h"

namespace bertft {

// Returns exactly storage.bytes() bytes, or throws CheckpointError.
using StorageReader = std::function<FileBytes(std::string_view key, const TorchStorage& storage)>;

// Reads the storages that `state` uses. CheckpointError when copies of tensors that are not contiguous would take more
// than 64 MiB and four times the size of `file`.
LoadedTensors load_torch_tensors(const StateDict& state, const TorchStorages& storages, const InputFile& file,
                                 const StorageReader& read_storage);

}  // namespace bertft
