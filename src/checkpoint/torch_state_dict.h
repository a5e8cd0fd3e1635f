// Finds the state dict in what a torch.save pickle holds and describes its tensors: where they lie in which storage.
// Nothing of the storages is read here, so every claim can be checked before memory is taken.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/pickle_machine.h"
#include "checkpoint/tensor.h"

namespace bertft {

struct TorchStorage {
  DType dtype = DType::kF32;
  int64_t elements = 0;
  uint64_t bytes() const { return static_cast<uint64_t>(elements) * dtype_bytes(dtype); }
};

// By key; the keys point into the pickle.
using TorchStorages = std::map<std::string_view, TorchStorage>;

// A tensor as a view of a storage: element (i, j, ...) is at offset + i * strides[0] + j * strides[1] + ...
struct TorchTensor {
  std::string name;
  std::string_view key;  // of its storage
  DType dtype = DType::kF32;
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;

  int64_t elements() const { return element_count(shape); }
  // Row-major without gaps, so that the storage's own bytes can be used.
  bool is_contiguous() const;
};

struct StateDict {
  std::vector<TorchTensor> tensors;  // sorted by name
  std::vector<std::string> notes;    // the wrapper that was opened, entries that are no tensors
};

// Every storage that the pickle names, used or not. CheckpointError: a persistent id that describes no storage, one key
// with two descriptions, sizes that overflow.
TorchStorages storages_of(const PickleProgram& program, const std::string& where);

// The state dict: the dictionary itself, or under state_dict, model_state_dict or model in the dictionary of a trainer.
// Parameters and tensors count, other values are noted and left out. CheckpointError: no such dictionary, a name that
// is no text or comes twice, a tensor whose sizes, strides and offset leave its storage.
StateDict find_state_dict(const PickleProgram& program, const TorchStorages& storages, const std::string& where);

}  // namespace bertft
