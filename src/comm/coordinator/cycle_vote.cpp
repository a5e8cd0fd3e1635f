#include "comm/coordinator/cycle_vote.h"

#include <utility>

#include "core/error.h"

namespace bertft {

namespace {

constexpr uint64_t kShutdownBit = 1;
constexpr uint64_t kUncachedBit = 2;
constexpr uint64_t kInvalidBit = 4;
constexpr uint64_t kStatusMask = kShutdownBit | kUncachedBit | kInvalidBit;

// The bits of a set, moved up to make room for the status bits.
std::vector<uint64_t> shifted_up(const UnitSet& set, size_t count) {
  std::vector<uint64_t> words(count, 0);
  for (size_t i = 0; i < set.words().size(); ++i) {
    words[i] |= set.words()[i] << CycleVote::kStatusBits;
    if (i + 1 < count) {
      words[i + 1] |= set.words()[i] >> (64 - CycleVote::kStatusBits);
    }
  }
  return words;
}

// Back again. Throws CommError when a bit beyond the last one is set.
UnitSet shifted_down(const std::vector<uint64_t>& words, int bits) {
  std::vector<uint64_t> result(words.size(), 0);
  for (size_t i = 0; i < words.size(); ++i) {
    result[i] = words[i] >> CycleVote::kStatusBits;
    if (i + 1 < words.size()) {
      result[i] |= words[i + 1] << (64 - CycleVote::kStatusBits);
    }
  }
  const size_t needed = UnitSet::word_count(bits);
  for (size_t i = needed; i < result.size(); ++i) {
    if (result[i] != 0) {
      throw CommError("the vector of a cycle has bits that stand for no tensor; all ranks must run the same build");
    }
  }
  result.resize(needed);
  return UnitSet::from_words(bits, std::move(result));
}

}  // namespace

CycleVote::CycleVote(int cache_bits, bool has_timeline)
    : has_timeline_(has_timeline), hits_(cache_bits), invalid_(cache_bits), any_hits_(cache_bits) {}

void CycleVote::add_invalid(int bit) {
  invalid_.add(bit);
  is_invalid_ = true;
  is_uncached_ = true;
}

std::vector<uint64_t> CycleVote::and_words() const {
  const size_t count = word_count(hits_.units());
  std::vector<uint64_t> words = shifted_up(hits_ - invalid_, count);
  if (has_timeline_) {
    for (size_t i = 0; i < count; ++i) {
      words.push_back(~words[i]);
    }
  }
  words[0] |= (is_shutdown_ ? 0 : kShutdownBit) | (is_uncached_ ? 0 : kUncachedBit) | (is_invalid_ ? 0 : kInvalidBit);
  return words;
}

void CycleVote::apply_and(const std::vector<uint64_t>& words) {
  const size_t count = word_count(hits_.units());
  check(words.size() == count * (has_timeline_ ? 2 : 1), "words of a vote");
  is_shutdown_ = (words[0] & kShutdownBit) == 0;
  is_uncached_ = (words[0] & kUncachedBit) == 0;
  is_invalid_ = (words[0] & kInvalidBit) == 0;
  std::vector<uint64_t> part(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  const UnitSet common = shifted_down(part, hits_.units());
  if (!hits_.includes(common)) {
    throw CommError("the ranks agreed on a tensor that this rank does not have ready: their caches differ");
  }
  hits_ = common;
  if (has_timeline_) {
    for (size_t i = 0; i < count; ++i) {
      part[i] = ~words[count + i];
    }
    part[0] &= ~kStatusMask;
    any_hits_ = shifted_down(part, hits_.units());
  }
}

std::vector<uint64_t> CycleVote::or_words() const {
  std::vector<uint64_t> words = invalid_.words();
  words.resize(word_count(hits_.units()), 0);
  return words;
}

void CycleVote::apply_or(const std::vector<uint64_t>& words) {
  std::vector<uint64_t> bits = words;
  const size_t needed = UnitSet::word_count(invalid_.units());
  for (size_t i = needed; i < bits.size(); ++i) {
    if (bits[i] != 0) {
      throw CommError("the ranks erase tensors that are not cached; all ranks must run the same build");
    }
  }
  bits.resize(needed);
  invalid_ = UnitSet::from_words(invalid_.units(), std::move(bits));
  any_hits_ -= invalid_;
}

}  // namespace bertft
