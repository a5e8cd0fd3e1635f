#include "core/hash.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "core/rng.h"

namespace bertft {
namespace {

constexpr uint64_t kLaneMultiplier = 0x9FB21C651E98DF25u;
constexpr size_t kBlockBytes = 1 << 20;

uint64_t load_word(const unsigned char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

}  // namespace

uint64_t hash64(const void* data, size_t bytes, uint64_t seed) {
  const auto* cursor = static_cast<const unsigned char*>(data);
  std::array<uint64_t, 4> lanes{};
  for (size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] = mix64(seed + lane);
  size_t left = bytes;
  for (; left >= 32; left -= 32, cursor += 32) {
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      const uint64_t mixed = (lanes[lane] ^ load_word(cursor + 8 * lane)) * kLaneMultiplier;
      lanes[lane] = mixed ^ (mixed >> 29);
    }
  }
  std::array<unsigned char, 32> tail{};
  if (left > 0) std::memcpy(tail.data(), cursor, left);
  uint64_t hash = mix64(seed ^ bytes);
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    hash = mix64(hash ^ lanes[lane]);
    hash = mix64(hash ^ load_word(tail.data() + 8 * lane));
  }
  return hash;
}

void StreamHash::add(const void* data, size_t bytes) {
  const char* cursor = static_cast<const char*>(data);
  while (bytes > 0) {
    if (block_.empty() && bytes >= kBlockBytes) {
      hash_ = hash64(cursor, kBlockBytes, hash_);
      bytes_ += kBlockBytes;
      cursor += kBlockBytes;
      bytes -= kBlockBytes;
      continue;
    }
    const size_t taken = std::min(bytes, kBlockBytes - block_.size());
    block_.append(cursor, taken);
    cursor += taken;
    bytes -= taken;
    if (block_.size() < kBlockBytes) continue;
    hash_ = hash64(block_, hash_);
    bytes_ += kBlockBytes;
    block_.clear();
  }
}

uint64_t StreamHash::value() const {
  // A content of nothing but whole blocks ends with the last of them.
  return block_.empty() && bytes_ > 0 ? hash_ : hash64(block_, hash_);
}

std::string hash_text(uint64_t hash) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace bertft
