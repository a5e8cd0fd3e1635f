// A set of units of a layout, one bit each in 64-bit words: what the ranks of a job tell each other of readiness.
// Bit u % 64 of word u / 64 stands for unit u; bits beyond the last unit are always zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bertft {

class UnitSet {
 public:
  UnitSet() = default;
  // The empty set of `units` units that there are (0 is allowed).
  explicit UnitSet(int units);
  // All of them.
  static UnitSet all(int units);
  // A set that came over the wire. Throws CommError when the number of words is wrong or a bit beyond `units` is set.
  static UnitSet from_words(int units, std::vector<uint64_t> words);
  static size_t word_count(int units) { return (static_cast<size_t>(units) + 63) / 64; }

  int units() const { return units_; }  // how many there are, not how many are in the set
  const std::vector<uint64_t>& words() const { return words_; }

  // REQUIRE 0 <= unit < units().
  bool contains(int unit) const;
  void add(int unit);
  void remove(int unit);

  void clear();
  bool empty() const;
  int count() const;
  std::vector<int> to_vector() const;  // ascending

  // Intersection, union, difference. REQUIRE the same number of units.
  UnitSet& operator&=(const UnitSet& other);
  UnitSet& operator|=(const UnitSet& other);
  UnitSet& operator-=(const UnitSet& other);
  bool includes(const UnitSet& other) const;
  friend UnitSet operator&(UnitSet a, const UnitSet& b) { return a &= b; }
  friend UnitSet operator|(UnitSet a, const UnitSet& b) { return a |= b; }
  friend UnitSet operator-(UnitSet a, const UnitSet& b) { return a -= b; }
  friend bool operator==(const UnitSet& a, const UnitSet& b) = default;

 private:
  int units_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace bertft
