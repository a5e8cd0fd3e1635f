// Counter-based randomness: known answers, permutations, the rate and the independence of dropout bits, normal draws.
#include "core/rng.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/unit/core/known_answers.h"

namespace bertft {
namespace {

using test::known_answers;
using test::word;

TEST_CASE("Words, bits, permutations and normal draws equal independently computed ones") {
  const auto& answers = known_answers();
  for (const auto& row : answers["mix64"]) REQUIRE(mix64(word(row[0])) == word(row[1]));
  for (const auto& row : answers["counter_bits"]) {
    REQUIRE(counter_bits(word(row[0]), row[1].get<uint32_t>()) == row[2].get<uint32_t>());
  }
  for (const auto& row : answers["permutation"]) {
    REQUIRE(permutation(row["count"], word(row["key"])) == row["order"].get<std::vector<int64_t>>());
  }
  for (const auto& row : answers["counter_normal"]) {
    REQUIRE(counter_normal(word(row[0]), row[1].get<uint64_t>()) == Approx(row[2].get<double>()).epsilon(1e-13));
  }
  REQUIRE(answers["stream_key"].size() == 5);
  const auto key = [&](size_t i) { return word(answers["stream_key"][i]["key"]); };
  REQUIRE(stream_key(0) == key(0));
  REQUIRE(stream_key(42) == key(1));
  REQUIRE(stream_key(42, 1, int64_t{2}) == key(2));
  REQUIRE(stream_key(42, uint64_t{2}, 1) == key(3));
  REQUIRE(stream_key(7, 0xD209, 3, 17, 0, 5, 2) == key(4));
}

TEST_CASE("A permutation holds every row once, and its key decides about all of it") {
  for (const int64_t count : {0, 1, 2, 3, 100, 4096, 5452}) {
    std::vector<int64_t> order = permutation(count, 99);
    REQUIRE(order == permutation(count, 99));
    std::sort(order.begin(), order.end());
    std::vector<int64_t> all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    REQUIRE(order == all);
  }
  REQUIRE(permutation(100, 1) != permutation(100, 2));
}

TEST_CASE("All orders of four rows are equally likely") {
  std::array<int, 24> seen{};
  constexpr int kDraws = 24000;
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    std::vector<int64_t> order = permutation(4, stream_key(7, draw));
    size_t rank = 0;  // of the order among the 24, from its inversions
    for (size_t i = 0; i < 4; ++i) {
      const auto smaller = std::count_if(order.begin() + static_cast<std::ptrdiff_t>(i) + 1, order.end(),
                                         [&](int64_t later) { return later < order[i]; });
      rank = rank * (4 - i) + static_cast<size_t>(smaller);
    }
    ++seen.at(rank);
  }
  double chi_square = 0.0;  // 23 degrees of freedom: above 56 once in 10,000 seeds
  for (const int count : seen) chi_square += std::pow(count - kDraws / 24.0, 2) / (kDraws / 24.0);
  REQUIRE(chi_square < 56.0);
}

TEST_CASE("The dropout threshold is the share of 2^32 that the probability names") {
  struct Case {
    double probability;
    uint32_t threshold;
  };
  for (const Case& c :
       {Case{0.0, 0u}, Case{0.1, 429496730u}, Case{0.25, 1u << 30}, Case{0.5, 1u << 31}, Case{0.99, 4252017623u},
        Case{0x1.0p-32, 1u}, Case{0x1.0p-40, 0u}, Case{1.0 - 0x1.0p-53, 0xFFFFFFFFu}}) {
    REQUIRE(dropout_threshold(c.probability) == c.threshold);
  }
  for (const double wrong : {1.0, -0.1, 2.0, std::nan("")}) {
    test::error_text<InternalError>([&] { dropout_threshold(wrong); });
  }
}

// How far the pairs (first dropped?, second dropped?) are from independence with rate p: chi-square, 3 degrees of
// freedom, above 30 once in 700,000 seeds.
template <typename First, typename Second>
double pair_chi_square(double p, uint32_t pairs, First&& first, Second&& second) {
  const uint32_t threshold = dropout_threshold(p);
  std::array<double, 4> seen{};
  for (uint32_t i = 0; i < pairs; ++i) {
    seen.at((first(i) < threshold ? 2u : 0u) + (second(i) < threshold ? 1u : 0u)) += 1.0;
  }
  const std::array<double, 4> rates = {(1 - p) * (1 - p), (1 - p) * p, p * (1 - p), p * p};
  double chi_square = 0.0;
  for (size_t cell = 0; cell < 4; ++cell) {
    const double expected = rates.at(cell) * pairs;
    chi_square += std::pow(seen.at(cell) - expected, 2) / expected;
  }
  return chi_square;
}

TEST_CASE("Bits have their rate and are independent of neighbouring indices and of other keys") {
  constexpr uint32_t kPairs = 1 << 18;
  for (const double p : {0.1, 0.3, 0.5}) {
    for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{42}}) {
      INFO("p " << p << ", seed " << seed);
      const uint64_t key = stream_key(seed, 0xD209, 3, 17, 0, 5, 2);
      const auto here = [&](uint32_t i) { return counter_bits(key, i); };
      for (const uint32_t distance : {1u, 2u, 13u, 64u, 384u, 768u}) {
        INFO("distance " << distance);
        REQUIRE(pair_chi_square(p, kPairs, here, [&](uint32_t i) { return counter_bits(key, i + distance); }) < 30.0);
      }
      const std::array<uint64_t, 4> others = {
          stream_key(seed, 0xD209, 4, 17, 0, 5, 2), stream_key(seed, 0xD209, 3, 18, 0, 5, 2),
          stream_key(seed, 0xD209, 3, 17, 1, 5, 2), stream_key(seed + 1, 0xD209, 3, 17, 0, 5, 2)};
      for (const uint64_t other : others) {
        REQUIRE(pair_chi_square(p, kPairs, here, [&](uint32_t i) { return counter_bits(other, i); }) < 30.0);
      }
    }
  }
}

TEST_CASE("Every one of the 32 bits is set in half of all draws") {
  std::array<int, 32> set{};
  constexpr int kDraws = 1 << 16;
  for (uint32_t i = 0; i < kDraws; ++i) {
    for (size_t bit = 0; bit < 32; ++bit) set.at(bit) += static_cast<int>(counter_bits(stream_key(5), i) >> bit & 1u);
  }
  for (const int count : set) REQUIRE(std::abs(count - kDraws / 2) < 5 * 128);  // five deviations
}

TEST_CASE("A key's stream visits no 32-bit word twice") {
  std::set<uint32_t> words;
  for (uint32_t i = 0; i < 50000; ++i) words.insert(counter_bits(stream_key(11), i));
  REQUIRE(words.size() == 50000);
}

TEST_CASE("Normal draws have the moments of a normal distribution and differ between streams") {
  constexpr int kDraws = 200000;
  std::array<double, 5> moments{};
  double product = 0.0;
  for (uint64_t i = 0; i < kDraws; ++i) {
    const double x = counter_normal(stream_key(1), i);
    REQUIRE(std::isfinite(x));
    product += x * counter_normal(stream_key(2), i);
    for (size_t m = 1; m <= 4; ++m) moments.at(m) += std::pow(x, m);
  }
  const double root = std::sqrt(static_cast<double>(kDraws));
  // Deviations of the sample moments: 1, sqrt 2, sqrt 15, sqrt 96 over root; four of them are allowed.
  REQUIRE(std::abs(moments[1] / kDraws) < 4.0 / root);
  REQUIRE(std::abs(moments[2] / kDraws - 1.0) < 4.0 * std::sqrt(2.0) / root);
  REQUIRE(std::abs(moments[3] / kDraws) < 4.0 * std::sqrt(15.0) / root);
  REQUIRE(std::abs(moments[4] / kDraws - 3.0) < 4.0 * std::sqrt(96.0) / root);
  REQUIRE(std::abs(product / kDraws) < 4.0 / root);
}

}  // namespace
}  // namespace bertft
