#include "comm/coordinator/tensor_traits.h"

#include <fmt/format.h>

namespace bertft {

int64_t bytes_of(TensorType type) {
  switch (type) {
    case TensorType::kFloat16:
    case TensorType::kBFloat16:
      return 2;
    case TensorType::kFloat32:
      return 4;
    case TensorType::kFloat64:
      return 8;
  }
  return 0;
}

const char* name_of(TensorType type) {
  switch (type) {
    case TensorType::kFloat16:
      return "float16";
    case TensorType::kBFloat16:
      return "bfloat16";
    case TensorType::kFloat32:
      return "float32";
    case TensorType::kFloat64:
      return "float64";
  }
  return "unknown";
}

const char* name_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kMin:
      return "min";
    case ReduceOp::kMax:
      return "max";
  }
  return "unknown";
}

std::string text_of_shape(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string text_of_device(int32_t device) { return device == kCpuDevice ? "CPU" : "GPU"; }

int64_t TensorTraits::elements() const {
  int64_t product = 1;
  for (const int64_t extent : shape) {
    product *= extent;
  }
  return product;
}

bool has_valid_shape(const TensorTraits& traits) {
  constexpr int64_t kMostBytes = int64_t{1} << 60;
  int64_t product = bytes_of(traits.type);
  for (const int64_t extent : traits.shape) {
    if (extent < 0 || (extent > 0 && product > kMostBytes / extent)) {
      return false;
    }
    product *= extent;
  }
  return traits.shape.size() <= 255;
}

int TensorNames::number(std::string_view name) {
  const auto [place, is_new] = numbers_.try_emplace(std::string(name), count());
  if (is_new) {
    names_.emplace_back(name);
  }
  return place->second;
}

}  // namespace bertft
