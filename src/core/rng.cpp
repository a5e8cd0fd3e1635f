#include "core/rng.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/error.h"

namespace bertft {
namespace {

// A draw from 0..bound-1 without bias (Lemire 2019): `counter` moves on by one for every word used.
uint64_t bounded_draw(uint64_t key, uint64_t& counter, uint64_t bound) {
  while (true) {
    const uint64_t word = mix64(key ^ mix64(counter++));
    const auto product = static_cast<unsigned __int128>(word) * bound;
    const auto low = static_cast<uint64_t>(product);
    if (low >= bound || low >= (0 - bound) % bound) return static_cast<uint64_t>(product >> 64);
  }
}

double unit_interval(uint64_t word) { return static_cast<double>(word >> 11) * 0x1.0p-53; }

// The logarithm and the cosine below use nothing but the operations that IEEE 754 rounds exactly, so that they give the
// same bits on every machine; those of a C library differ from version to version and from processor to processor.
// This file is compiled without contraction of products and sums for the same reason.

// ln(x) for 0 < x <= 1, within two units in the last place: x = m 2^e, ln m = 2 atanh((m - 1) / (m + 1)) as a series.
double portable_log(double x) {
  constexpr double kLn2High = 0x1.62e42fefa38p-1;  // its products with exponents are exact
  constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // in [1/2, 1)
  if (mantissa < 0.5 * std::numbers::sqrt2) {
    mantissa *= 2.0;
    --exponent;
  }
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double square = s * s;
  double series = 0.0;
  for (int n = 25; n >= 3; n -= 2) series = (series + 1.0 / n) * square;
  return exponent * kLn2High + (2.0 * s * (1.0 + series) + exponent * kLn2Low);
}

// cos(2 pi turns) for 0 <= turns < 1: turns = quarters / 4 + rest exactly, the rest by its Taylor series.
double portable_cos_turns(double turns) {
  const int quarters = static_cast<int>(4.0 * turns + 0.5);
  const double angle = 2.0 * std::numbers::pi * (turns - 0.25 * quarters);  // |angle| <= pi / 4
  const double square = angle * angle;
  const bool is_sine = quarters % 2 != 0;
  double series = 1.0;
  for (int n = is_sine ? 19 : 18; n >= 2; n -= 2) series = 1.0 - series * square / (n * (n - 1.0));
  const double value = is_sine ? angle * series : series;
  return quarters == 1 || quarters == 2 ? -value : value;
}

}  // namespace

uint32_t dropout_threshold(double probability) {
  check(probability >= 0.0 && probability < 1.0, "a dropout probability lies in [0, 1)");
  return static_cast<uint32_t>(std::min(std::llround(probability * 0x1.0p32), 0xFFFFFFFFll));
}

std::vector<int64_t> permutation(int64_t count, uint64_t key) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  uint64_t counter = 0;
  for (size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[bounded_draw(key, counter, left)]);
  }
  return order;
}

double counter_normal(uint64_t key, uint64_t index) {
  const uint64_t base = mix64(key ^ mix64(index));
  const double radius = 1.0 - unit_interval(base);  // in (0, 1]
  const double angle = unit_interval(mix64(base));
  return std::sqrt(-2.0 * portable_log(radius)) * portable_cos_turns(angle);
}

}  // namespace bertft
