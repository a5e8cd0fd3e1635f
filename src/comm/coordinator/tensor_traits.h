// What the coordinator's protocol knows of a tensor: its name and the traits that have to be the same on all ranks
// before its elements may be added up. Follows the request of Horovod 0.28 (horovod/common/message.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bertft {

// The numbers travel in messages: never renumber.
enum class TensorType : uint8_t { kFloat16 = 0, kBFloat16 = 1, kFloat32 = 2, kFloat64 = 3 };
enum class ReduceOp : uint8_t { kSum = 0, kMin = 1, kMax = 2 };
constexpr int kTensorTypes = 4;
constexpr int kReduceOps = 3;

constexpr int32_t kCpuDevice = -1;  // else the index of the accelerator on its node

int64_t bytes_of(TensorType type);                             // of one element
const char* name_of(TensorType type);                          // float32, ...
const char* name_of(ReduceOp op);                              // sum, ...
std::string text_of_shape(const std::vector<int64_t>& shape);  // [2, 3]
std::string text_of_device(int32_t device);                    // CPU, GPU

// REQUIRE `has_valid_shape`: at most 255 extents, none negative, and all elements together at most 2^60 bytes.
struct TensorTraits {
  TensorType type = TensorType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int32_t device = kCpuDevice;
  std::vector<int64_t> shape;

  int64_t elements() const;  // 1 for an empty shape
  int64_t bytes() const { return elements() * bytes_of(type); }

  friend bool operator==(const TensorTraits&, const TensorTraits&) = default;
};

bool has_valid_shape(const TensorTraits& traits);

struct TensorSpec {
  std::string name;
  TensorTraits traits;
};

// Traits are shared, never changed: a rank that waits for a thousand tensors holds a thousand pointers.
using SharedTraits = std::shared_ptr<const TensorTraits>;
// The same object or an equal one.
inline bool same_traits(const SharedTraits& a, const SharedTraits& b) { return a == b || *a == *b; }

// Numbers for names within one process, in the order of their first appearance. They differ between ranks and never
// travel: messages carry names.
class TensorNames {
 public:
  int number(std::string_view name);  // a new one for a name that is not known yet
  const std::string& name(int number) const { return names_[static_cast<size_t>(number)]; }
  int count() const { return static_cast<int>(names_.size()); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> numbers_;
};

}  // namespace bertft
