// A fast 64-bit content hash for telling files, layouts and parameters apart (not for adversaries).
// Defined on bytes, so it is the same on every machine; four lanes of 64-bit multiply-mix, about memory speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bertft {

// The seed has no default here: hash64("text", 6) means a text and a seed, never the first six bytes.
uint64_t hash64(const void* data, size_t bytes, uint64_t seed);
inline uint64_t hash64(std::string_view text, uint64_t seed = 0) { return hash64(text.data(), text.size(), seed); }

// 16 lower-case hexadecimal digits.
std::string hash_text(uint64_t hash);

}  // namespace bertft
