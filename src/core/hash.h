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

// The hash of a long content that comes in pieces, such as a file while it is read: blocks of 1 MiB, the hash of each
// being the seed of the next. It depends on the bytes alone, not on the pieces; up to 1 MiB it equals hash64(text).
class StreamHash {
 public:
  void add(const void* data, size_t bytes);
  void add(std::string_view text) { add(text.data(), text.size()); }
  // Of everything added so far; more may follow.
  uint64_t value() const;

 private:
  uint64_t hash_ = 0;
  uint64_t bytes_ = 0;
  std::string block_;  // what has not filled a block
};

// 16 lower-case hexadecimal digits.
std::string hash_text(uint64_t hash);

}  // namespace bertft
