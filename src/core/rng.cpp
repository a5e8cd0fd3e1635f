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
  return std::sqrt(-2.0 * std::log(radius)) * std::cos(2.0 * std::numbers::pi * angle);
}

}  // namespace bertft
