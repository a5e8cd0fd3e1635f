// What the ranks tell each other at the start of every cycle while responses are cached: a vector of bits that one AND
// over all ranks turns into the tensors that all have ready. As CacheCoordinator of Horovod 0.28.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/unit_set.h"

namespace bertft {

// The vector: ceil((bits + 3) / 64) words. Bits 0 to 2 are shutdown, uncached and invalid, each 1 when this rank does
// NOT say so, since the AND is then 0 as soon as one rank does. Bit 3 + b says that this rank has a hit on cache bit b.
// With a timeline the words follow once more, inverted: 0 where any rank has a hit. A second vector, only when any rank
// said `invalid`: the OR of the bits to be erased, in as many words, not shifted.
class CycleVote {
 public:
  static constexpr int kStatusBits = 3;
  static size_t word_count(int cache_bits) { return (static_cast<size_t>(cache_bits) + kStatusBits + 63) / 64; }

  CycleVote() = default;
  CycleVote(int cache_bits, bool has_timeline);

  // Of this rank, before the AND.
  void add_hit(int bit) { hits_.add(bit); }
  void add_invalid(int bit);  // also says uncached: the slow path must find out
  void say_uncached() { is_uncached_ = true; }
  void say_shutdown() { is_shutdown_ = true; }

  std::vector<uint64_t> and_words() const;
  // Both throw CommError when the words are no possible outcome: a common hit that this rank has not, bits of no entry.
  void apply_and(const std::vector<uint64_t>& words);
  std::vector<uint64_t> or_words() const;
  void apply_or(const std::vector<uint64_t>& words);

  // Of all ranks, after the AND (and the OR).
  bool is_shutdown() const { return is_shutdown_; }
  bool is_uncached() const { return is_uncached_; }
  bool is_invalid() const { return is_invalid_; }
  const UnitSet& hits() const { return hits_; }          // on all ranks; none of them invalid on any
  const UnitSet& invalid() const { return invalid_; }    // on any rank
  const UnitSet& any_hits() const { return any_hits_; }  // on any rank and not invalid; empty without a timeline

 private:
  bool has_timeline_ = false;
  bool is_shutdown_ = false;
  bool is_uncached_ = false;
  bool is_invalid_ = false;
  UnitSet hits_;
  UnitSet invalid_;
  UnitSet any_hits_;
};

}  // namespace bertft
