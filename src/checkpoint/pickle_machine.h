// A restricted reader of Python pickles: a stack machine for the operations that files of weights need. It builds plain
// values and never calls, imports or constructs anything; every global outside a short list is refused by its name.
// Source: Lib/pickletools.py of CPython 3.11 for the operations; torch/_utils.py and torch/serialization.py of
// PyTorch 2.11 for the globals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bertft {

enum class PickleKind {
  kNone,
  kBool,     // number
  kInteger,  // number
  kLong,     // text: little-endian two's complement of more than eight bytes
  kReal,     // not kept: no tensor needs one
  kText,     // text
  kBytes,    // text
  kTuple,    // items
  kList,     // items
  kDict,     // items: key, value, key, value...; an OrderedDict, too
  kGlobal,   // text: "torch.FloatStorage"
  kStorage,  // items: those of the persistent id
  kTensor,   // items: the arguments of torch._utils._rebuild_tensor(_v2)
};

using PickleRef = uint32_t;  // index into PickleProgram::values

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  int64_t number = 0;
  std::string_view text;         // into the pickle's bytes, or a constant
  std::vector<PickleRef> items;  // may refer to itself in a hostile file: never walked without a limit
};

struct PickleProgram {
  std::vector<PickleValue> values;
  PickleRef root = 0;
  size_t bytes = 0;  // length of the pickle, STOP included

  const PickleValue& at(PickleRef ref) const { return values[ref]; }
  const PickleValue& item(const PickleValue& value, size_t index) const { return values[value.items[index]]; }
};

// Limits far above every file of weights and far below what would hurt: memory stays within a small multiple of the
// pickle's own bytes, which callers limit to kMaxPickleBytes.
constexpr size_t kMaxPickleBytes = size_t{32} << 20;
constexpr size_t kMaxPickleValues = size_t{2} << 20;
constexpr size_t kMaxPickleItems = size_t{16} << 20;
constexpr size_t kMaxPickleDepth = 256;  // of open MARKs

// Runs the pickle at the beginning of `bytes`; what follows it is not looked at. The values refer to `bytes`. Throws
// CheckpointError with `where` (a path, or path and name in an archive), the byte and the reason: a global that is not
// on the list ("global os.system is not allowed"), an operation that no file of weights needs, one with operands of the
// wrong kind, a limit, the end of `bytes` before the end of the pickle.
PickleProgram run_pickle(std::string_view bytes, const std::string& where);

// "a list", for messages.
std::string_view pickle_kind_name(PickleKind kind);

}  // namespace bertft
