// What the checkpoint tests share: safetensors files made by hand, and the text of an error.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/tensor.h"
#include "tests/support/temp_folder.h"

namespace bertft::test {

void write_bytes(const std::string& path, std::string_view bytes);

// The bytes of a safetensors file: the length of `json`, `json` as it is, `data`.
std::string safetensors_bytes(std::string_view json, std::string_view data);

// A header entry: "name":{"dtype":...,"shape":...,"data_offsets":[begin,end]}.
std::string entry(std::string_view name, std::string_view dtype, std::string_view shape, size_t begin, size_t end);

// A view of `values`, which must outlive it.
template <typename T>
TensorView view_of(const std::string& name, DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  return {name, dtype, std::move(shape), reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)};
}

// The message of the CheckpointError that `action` throws; "no error" when it throws none.
std::string checkpoint_error(const std::function<void()>& action);

}  // namespace bertft::test
