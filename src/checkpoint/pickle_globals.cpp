#include "checkpoint/pickle_globals.h"

#include <algorithm>
#include <array>
#include <string>

namespace bertft {
namespace {

constexpr std::array<PickleGlobal, 16> kGlobals = {{
    {"collections.OrderedDict", PickleCall::kOrderedDict, {}},
    {"torch.Size", PickleCall::kSize, {}},
    {"torch._utils._rebuild_tensor", PickleCall::kRebuildTensor, {}},
    {"torch._utils._rebuild_tensor_v2", PickleCall::kRebuildTensor, {}},
    {"torch._utils._rebuild_parameter", PickleCall::kRebuildParameter, {}},
    {"torch.DoubleStorage", PickleCall::kNothing, DType::kF64},
    {"torch.FloatStorage", PickleCall::kNothing, DType::kF32},
    {"torch.HalfStorage", PickleCall::kNothing, DType::kF16},
    {"torch.BFloat16Storage", PickleCall::kNothing, DType::kBF16},
    {"torch.LongStorage", PickleCall::kNothing, DType::kI64},
    {"torch.IntStorage", PickleCall::kNothing, DType::kI32},
    {"torch.ShortStorage", PickleCall::kNothing, DType::kI16},
    {"torch.CharStorage", PickleCall::kNothing, DType::kI8},
    {"torch.ByteStorage", PickleCall::kNothing, DType::kU8},
    {"torch.BoolStorage", PickleCall::kNothing, DType::kBool},
    {"torch.ComplexFloatStorage", PickleCall::kNothing, DType::kC64},
}};

}  // namespace

const PickleGlobal* find_pickle_global(std::string_view full_name) {
  const auto* found =
      std::find_if(kGlobals.begin(), kGlobals.end(), [&](const PickleGlobal& g) { return g.name == full_name; });
  return found == kGlobals.end() ? nullptr : found;
}

const PickleGlobal* find_pickle_global(std::string_view module, std::string_view name) {
  if (module == "torch.cuda") module = "torch";
  constexpr size_t kLongest = 64;
  if (module.size() + name.size() > kLongest) return nullptr;
  return find_pickle_global(std::string(module) + "." + std::string(name));
}

}  // namespace bertft
