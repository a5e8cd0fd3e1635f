#include "core/hash.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "core/rng.h"

namespace bertft {
namespace {

constexpr uint64_t kLaneMultiplier = 0x9FB21C651E98DF25u;

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

std::string hash_text(uint64_t hash) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace bertft
