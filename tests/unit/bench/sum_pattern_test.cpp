#include "bench/sum_pattern.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "tests/support/test.h"

namespace bertft {
namespace {

constexpr int64_t kElements = 10'000;  // more than one block, and no multiple of it

std::vector<float> right_sums(const SumPattern& pattern, int ranks, int64_t round) {
  std::vector<float> sums(kElements, 0.0f);
  std::vector<float> values(kElements);
  for (int rank = 0; rank < ranks; ++rank) {
    pattern.fill(values.data(), kElements, rank, round);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  }
  return sums;
}

TEST_CASE("right sums are found right for every wire and number of ranks") {
  for (const WireType wire : {WireType::kFp32, WireType::kFp16, WireType::kBf16, WireType::kMixed}) {
    for (const int ranks : {1, 2, 3, 7, 256, 300}) {
      CAPTURE(wire_type_name(wire), ranks);
      const SumPattern pattern(ranks, wire);
      CHECK_FALSE(pattern.find_wrong(right_sums(pattern, ranks, 5).data(), kElements, 5));
      CHECK((pattern.tolerance() == 0.0) == !(wire == WireType::kBf16 && ranks > 256));
    }
  }
}

TEST_CASE("values are whole numbers that the wire holds, in sums of any of them, too") {
  const SumPattern pattern(3, WireType::kBf16);
  std::set<float> seen;
  for (int64_t i = 0; i < kElements; ++i) {
    const float value = pattern.value(1, 9, i);
    REQUIRE(value == std::round(value));
    REQUIRE(std::abs(value) <= 256.0f / 3);
    seen.insert(value);
  }
  CHECK(seen.size() == 2 * (256 / 3) + 1);  // all that there are
}

TEST_CASE("a single wrong element is found wherever it is and whatever is wrong with it") {
  const SumPattern pattern(3, WireType::kFp32);
  const std::vector<float> right = right_sums(pattern, 3, 2);
  for (const int64_t place : {int64_t{0}, int64_t{4095}, int64_t{4096}, kElements - 1}) {
    const auto at = static_cast<size_t>(place);
    for (const float wrong : {std::nextafter(right[at], 1e9f), std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(), pattern.value(0, 2, place)}) {
      CAPTURE(place, wrong);
      std::vector<float> sums = right;
      sums[at] = wrong;
      const auto found = pattern.find_wrong(sums.data(), kElements, 2);
      REQUIRE(found);
      CHECK(found->element == place);
      CHECK(found->expected == right[at]);
      CHECK(found->count == 1);
    }
  }
}

TEST_CASE("sums of another round, or that lack a rank, are wrong nearly everywhere") {
  const SumPattern pattern(3, WireType::kFp32);
  CHECK(pattern.find_wrong(right_sums(pattern, 3, 1).data(), kElements, 2)->count > kElements * 9 / 10);
  CHECK(pattern.find_wrong(right_sums(pattern, 2, 2).data(), kElements, 2)->count > kElements * 9 / 10);
  std::vector<float> shifted = right_sums(pattern, 3, 2);
  shifted.insert(shifted.begin(), 0.0f);
  CHECK(pattern.find_wrong(shifted.data(), kElements, 2)->count > kElements * 9 / 10);
}

}  // namespace
}  // namespace bertft
