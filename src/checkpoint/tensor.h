// A named tensor as a file holds it: element type, shape and a view of its bytes. Every reader and writer of weights
// speaks in these, so that whoever loads or saves a model need not know the file format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bertft {

// The element types of safetensors that fill whole bytes, in the order in which its own writer sorts them (size first).
enum class DType {
  kBool,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64,
};

// The name in a safetensors header, for example "BF16".
std::string_view dtype_name(DType dtype);
std::optional<DType> find_dtype(std::string_view name);
size_t dtype_bytes(DType dtype);

// Elements, row-major, little-endian; `data` belongs to whoever made the view and may be unaligned.
struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // empty: a scalar; a 0 in it: no elements
  const std::byte* data = nullptr;
  size_t bytes = 0;  // element_count(shape) * dtype_bytes(dtype)
};

// Product of the sizes. REQUIRES sizes whose product fits, which holds for every tensor that was read or built.
int64_t element_count(const std::vector<int64_t>& shape);

// The same for untrusted sizes: nothing when one is negative or the product (taken from the left) leaves int64_t.
std::optional<int64_t> checked_element_count(const std::vector<int64_t>& shape);

// "[30522, 384]" for messages; long shapes are cut after eight sizes.
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace bertft
