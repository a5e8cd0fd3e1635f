// One block of gradients to and from its wire type: chooses the power of two, falls back to fp32 where the 16-bit type
// cannot hold a value, and says what a receiver has to know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/wire/wire_type.h"

namespace bertft {

// How a block was encoded; both fields travel in its header.
struct BlockCode {
  WireType type = WireType::kFp32;
  int scale_exponent = 0;  // fp16: the encoded value is the true one times 2^this
  bool operator==(const BlockCode&) const = default;
};

// Powers of two that a scale may be; both they and their inverses are normal numbers.
constexpr int kLeastScaleExponent = -126;
constexpr int kMostScaleExponent = 126;

constexpr size_t wire_bytes(WireType type, int64_t elements) {
  return static_cast<size_t>(elements) * (type == WireType::kFp32 ? 4 : 2);
}

// Encodes n elements as `wanted` (kFp16 or kBf16) into out[n] and returns what became of them. When that is fp32, out
// is without meaning and x itself is what travels: for values that are not finite or would not be any more.
// `scale_exponent`: see ReduceJob. Errors otherwise: fp16 at most 2^-11 |x| or 2^-25 of the scale's inverse, bf16 2^-8
// |x|.
BlockCode encode_block(const float* x, int64_t n, WireType wanted, std::optional<int> scale_exponent, uint16_t* out);

// Exact: a power of two times the half. `code` must not be fp32.
void decode_block(BlockCode code, const uint16_t* x, int64_t n, float* out);

// True for a code that encode_block can have made; headers from elsewhere are checked with it.
bool is_possible(BlockCode code);

}  // namespace bertft
