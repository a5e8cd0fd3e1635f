#include "checkpoint/torch_state_dict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "checkpoint/pickle_globals.h"
#include "checkpoint/safetensors_header.h"
#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr size_t kMaxRank = 64;
constexpr size_t kShownNames = 5;
constexpr std::array<std::string_view, 3> kWrapperKeys = {"state_dict", "model_state_dict", "model"};
const char* const kOnlyWeights = "Save the weights alone: torch.save(model.state_dict(), ...), or as safetensors";

// Describes the tensors of one dictionary.
class TensorReader {
 public:
  TensorReader(const PickleProgram& program, const TorchStorages& storages, const std::string& where)
      : program_(program), storages_(storages), where_(where) {}

  TorchTensor read(std::string_view name, const PickleValue& value) {
    TorchTensor tensor;
    tensor.name = name;
    constexpr size_t kArguments = 4;  // storage, offset, sizes, strides; those behind them say nothing of the values
    if (value.items.size() < kArguments) fail(name, "it is described by too few values");
    const PickleValue& storage = program_.item(value, 0);
    if (storage.kind != PickleKind::kStorage) fail(name, "it has no storage");
    tensor.key = program_.item(storage, 2).text;
    const TorchStorage& extent = storages_.at(tensor.key);
    tensor.dtype = extent.dtype;
    tensor.offset = whole_number(name, program_.item(value, 1));
    tensor.shape = whole_numbers(name, program_.item(value, 2));
    tensor.strides = whole_numbers(name, program_.item(value, 3));
    if (tensor.shape.size() != tensor.strides.size()) fail(name, "it has not as many strides as sizes");
    // Along an axis of one element nothing is stepped over, and such strides may be anything.
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      if (tensor.shape[i] == 1) tensor.strides[i] = 0;
    }
    check_extent(tensor, extent.elements);
    return tensor;
  }

 private:
  [[noreturn]] void fail(std::string_view name, const std::string& what) const {
    throw_broken(where_, fmt::format("tensor '{}': {}", excerpt(name, 200), what), kGetAgain);
  }

  int64_t whole_number(std::string_view name, const PickleValue& value) const {
    if (value.kind != PickleKind::kInteger || value.number < 0)
      fail(name, "a size, stride or offset is no such number");
    return value.number;
  }

  std::vector<int64_t> whole_numbers(std::string_view name, const PickleValue& value) const {
    if (value.kind != PickleKind::kTuple || value.items.size() > kMaxRank) fail(name, "its sizes are no such list");
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < value.items.size(); ++i) numbers.push_back(whole_number(name, program_.item(value, i)));
    return numbers;
  }

  void check_extent(const TorchTensor& tensor, int64_t storage_elements) const {
    const std::optional<int64_t> count = checked_element_count(tensor.shape);
    int64_t bytes = 0;
    if (!count || __builtin_mul_overflow(*count, static_cast<int64_t>(dtype_bytes(tensor.dtype)), &bytes)) {
      fail(tensor.name, fmt::format("the shape {} has more elements than any file holds", shape_text(tensor.shape)));
    }
    if (*count == 0) return;
    int64_t last = tensor.offset;
    bool has_overflow = false;
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      int64_t step = 0;
      has_overflow = has_overflow || __builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &step) ||
                     __builtin_add_overflow(last, step, &last);
    }
    if (has_overflow || last >= storage_elements) {
      fail(tensor.name,
           fmt::format("its shape {}, strides {} and offset {} leave its storage of {} elements",
                       shape_text(tensor.shape), shape_text(tensor.strides), tensor.offset, storage_elements));
    }
  }

  const PickleProgram& program_;
  const TorchStorages& storages_;
  const std::string& where_;
};

bool holds_tensors(const PickleProgram& program, const PickleValue& dictionary) {
  for (size_t i = 1; i < dictionary.items.size(); i += 2) {
    if (program.item(dictionary, i).kind == PickleKind::kTensor) return true;
  }
  return false;
}

// The dictionary of tensors in `root`, and a note when it lies in a wrapper.
const PickleValue& unwrap(const PickleProgram& program, const std::string& where, std::vector<std::string>& notes) {
  const PickleValue& root = program.at(program.root);
  if (root.kind != PickleKind::kDict) {
    throw_broken(where, fmt::format("the file holds {}, not a dictionary of tensors", pickle_kind_name(root.kind)),
                 kOnlyWeights);
  }
  if (root.items.empty() || holds_tensors(program, root)) return root;
  for (const std::string_view key : kWrapperKeys) {
    for (size_t i = 0; i < root.items.size(); i += 2) {
      const PickleValue& value = program.item(root, i + 1);
      if (program.item(root, i).kind != PickleKind::kText || program.item(root, i).text != key) continue;
      if (value.kind != PickleKind::kDict || !holds_tensors(program, value)) continue;
      notes.push_back(fmt::format("the weights lie under '{}', all else in the file is left out", key));
      return value;
    }
  }
  throw_broken(where,
               fmt::format("the file's dictionary holds no tensors, also not under {}", fmt::join(kWrapperKeys, ", ")),
               kOnlyWeights);
}

}  // namespace

bool TorchTensor::is_contiguous() const {
  if (elements() == 0) return true;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

TorchStorages storages_of(const PickleProgram& program, const std::string& where) {
  TorchStorages storages;
  for (const PickleValue& value : program.values) {
    if (value.kind != PickleKind::kStorage) continue;
    // ("storage", type, key, location, elements), in old files with a sixth item, the view of another storage.
    const auto kind_of = [&](size_t i) { return program.item(value, i).kind; };
    const bool is_described = (value.items.size() == 5 || value.items.size() == 6) && kind_of(0) == PickleKind::kText &&
                              program.item(value, 0).text == "storage" && kind_of(1) == PickleKind::kGlobal &&
                              kind_of(2) == PickleKind::kText && kind_of(4) == PickleKind::kInteger;
    if (!is_described) throw_broken(where, "a persistent id describes no storage", kGetAgain);
    if (value.items.size() == 6 && kind_of(5) != PickleKind::kNone) {
      throw_broken(where, "a storage is a view of another one, as PyTorch wrote before version 0.4", kOnlyWeights);
    }
    const PickleGlobal* type = find_pickle_global(program.item(value, 1).text);
    if (type == nullptr || !type->storage) {
      throw_broken(where, fmt::format("{} is no type of storage", program.item(value, 1).text), kGetAgain);
    }
    const std::string_view key = program.item(value, 2).text;
    const TorchStorage storage{*type->storage, program.item(value, 4).number};
    int64_t bytes = 0;
    if (storage.elements < 0 ||
        __builtin_mul_overflow(storage.elements, static_cast<int64_t>(dtype_bytes(storage.dtype)), &bytes)) {
      throw_broken(where, fmt::format("storage '{}' has {} elements", excerpt(key), storage.elements), kGetAgain);
    }
    const auto [known, is_new] = storages.emplace(key, storage);
    if (!is_new && (known->second.dtype != storage.dtype || known->second.elements != storage.elements)) {
      throw_broken(where, fmt::format("storage '{}' is described in two ways", excerpt(key)), kGetAgain);
    }
  }
  return storages;
}

StateDict find_state_dict(const PickleProgram& program, const TorchStorages& storages, const std::string& where) {
  StateDict state;
  const PickleValue& dictionary = unwrap(program, where, state.notes);
  TensorReader reader(program, storages, where);
  std::vector<std::string> others;
  for (size_t i = 0; i < dictionary.items.size(); i += 2) {
    const PickleValue& key = program.item(dictionary, i);
    const PickleValue& value = program.item(dictionary, i + 1);
    if (value.kind == PickleKind::kTensor && key.kind != PickleKind::kText) {
      throw_broken(where, fmt::format("a tensor is called by {}, not by a text", pickle_kind_name(key.kind)),
                   kOnlyWeights);
    }
    if (value.kind == PickleKind::kTensor) {
      state.tensors.push_back(reader.read(key.text, value));
    } else {
      others.push_back(fmt::format("{} ({})", key.kind == PickleKind::kText ? excerpt(key.text) : "?",
                                   pickle_kind_name(value.kind)));
    }
  }
  if (!others.empty()) {
    const size_t count = others.size();
    if (count > kShownNames) others.resize(kShownNames);
    state.notes.push_back(fmt::format("no tensors, left out: {}{}", join(others, ", "),
                                      count > kShownNames ? fmt::format(" and {} more", count - kShownNames) : ""));
  }
  std::sort(state.tensors.begin(), state.tensors.end(),
            [](const TorchTensor& a, const TorchTensor& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(state.tensors.begin(), state.tensors.end(),
                                        [](const TorchTensor& a, const TorchTensor& b) { return a.name == b.name; });
  if (twice != state.tensors.end()) {
    throw_broken(where, fmt::format("the dictionary has '{}' twice", excerpt(twice->name, 200)), kGetAgain);
  }
  return state;
}

}  // namespace bertft
