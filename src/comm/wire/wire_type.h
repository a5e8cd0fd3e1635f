// In which number format gradients travel between nodes. Sums are always made in fp32; inside a node nothing is cast.
#pragma once

#include <cstdint>

namespace bertft {

// The values are those of the byte in a block's header (docs/communicator-transports.md): never renumber.
enum class WireType : uint8_t {
  kFp32 = 0,   // the element itself (also fp64 of a buffer of doubles)
  kFp16 = 1,   // IEEE half, times a power of two that the block's header names
  kBf16 = 2,   // the upper half of an fp32
  kMixed = 3,  // of a job, never of a block: fp16 for matrices, fp32 for vectors
};

inline const char* wire_type_name(WireType type) {
  switch (type) {
    case WireType::kFp32:
      return "fp32";
    case WireType::kFp16:
      return "fp16";
    case WireType::kBf16:
      return "bf16";
    case WireType::kMixed:
      break;
  }
  return "mixed";
}

}  // namespace bertft
