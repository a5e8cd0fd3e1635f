#include "comm/unit_set.h"

#include <fmt/format.h>

#include <bit>

#include "core/error.h"

namespace bertft {
namespace {

constexpr uint64_t bit_of(int unit) { return uint64_t{1} << (unit % 64); }
constexpr size_t word_of(int unit) { return static_cast<size_t>(unit) / 64; }

// The bits of the last word that stand for a unit.
uint64_t last_word_mask(int units) { return units % 64 == 0 ? ~uint64_t{0} : bit_of(units) - 1; }

}  // namespace

UnitSet::UnitSet(int units) : units_(units) {
  check(units >= 0, "a layout has no negative number of units");
  words_.resize(word_count(units));
}

UnitSet UnitSet::all(int units) {
  UnitSet set(units);
  for (uint64_t& word : set.words_) word = ~uint64_t{0};
  if (units > 0) set.words_.back() = last_word_mask(units);
  return set;
}

UnitSet UnitSet::from_words(int units, std::vector<uint64_t> words) {
  UnitSet set(units);
  if (words.size() != set.words_.size()) {
    throw CommError(fmt::format("a set of {} units has {} words, not the {} that a peer sent", units, set.words_.size(),
                                words.size()));
  }
  if (units > 0 && (words.back() & ~last_word_mask(units)) != 0) {
    throw CommError(fmt::format("a peer sent a set of units with bits beyond the last of {} units", units));
  }
  set.words_ = std::move(words);
  return set;
}

bool UnitSet::contains(int unit) const {
  check(unit >= 0 && unit < units_, "a unit is one of the layout");
  return (words_[word_of(unit)] & bit_of(unit)) != 0;
}

void UnitSet::add(int unit) {
  check(unit >= 0 && unit < units_, "a unit is one of the layout");
  words_[word_of(unit)] |= bit_of(unit);
}

void UnitSet::remove(int unit) {
  check(unit >= 0 && unit < units_, "a unit is one of the layout");
  words_[word_of(unit)] &= ~bit_of(unit);
}

void UnitSet::clear() {
  for (uint64_t& word : words_) word = 0;
}

bool UnitSet::empty() const {
  for (const uint64_t word : words_) {
    if (word != 0) return false;
  }
  return true;
}

int UnitSet::count() const {
  int count = 0;
  for (const uint64_t word : words_) count += std::popcount(word);
  return count;
}

std::vector<int> UnitSet::to_vector() const {
  std::vector<int> units;
  for (size_t i = 0; i < words_.size(); ++i) {
    for (uint64_t rest = words_[i]; rest != 0; rest &= rest - 1) {
      units.push_back(static_cast<int>(i * 64) + std::countr_zero(rest));
    }
  }
  return units;
}

UnitSet& UnitSet::operator&=(const UnitSet& other) {
  check(units_ == other.units_, "sets of units belong to one layout");
  for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  return *this;
}

UnitSet& UnitSet::operator|=(const UnitSet& other) {
  check(units_ == other.units_, "sets of units belong to one layout");
  for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  return *this;
}

UnitSet& UnitSet::operator-=(const UnitSet& other) {
  check(units_ == other.units_, "sets of units belong to one layout");
  for (size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
  return *this;
}

bool UnitSet::includes(const UnitSet& other) const {
  check(units_ == other.units_, "sets of units belong to one layout");
  for (size_t i = 0; i < words_.size(); ++i) {
    if ((other.words_[i] & ~words_[i]) != 0) return false;
  }
  return true;
}

}  // namespace bertft
