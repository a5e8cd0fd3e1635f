// The globals that a pickle of weights may name, and what the machine does in their place. Everything else is refused.
#pragma once

#include <optional>
#include <string_view>

#include "checkpoint/tensor.h"

namespace bertft {

// What calling a global means here.
enum class PickleCall {
  kNothing,           // it is only named (a type of storage), never called
  kOrderedDict,       // a dictionary
  kSize,              // torch.Size: a tuple
  kRebuildTensor,     // a tensor over a storage
  kRebuildParameter,  // its first argument
};

struct PickleGlobal {
  std::string_view name;  // "collections.OrderedDict"
  PickleCall call = PickleCall::kNothing;
  std::optional<DType> storage;  // element type of a type of storage
};

// nullptr when `name` is not on the list. Names of CUDA storages (torch.cuda.FloatStorage) count as those of the CPU.
const PickleGlobal* find_pickle_global(std::string_view module, std::string_view name);

// The entry called "module.name" as the machine keeps it; nullptr likewise.
const PickleGlobal* find_pickle_global(std::string_view full_name);

}  // namespace bertft
