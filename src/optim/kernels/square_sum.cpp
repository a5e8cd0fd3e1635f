#include "optim/kernels/square_sum.h"

#include <array>
#include <cstddef>

namespace bertft {
namespace {

constexpr int64_t kLanes = 16;  // partial sums of a block: the order of summation is fixed, vectors may be any width

// Inlined into each clone below, so that it is compiled for that clone's instruction set.
template <typename T>
__attribute__((always_inline)) inline double sum_of_squares(const T* values, int64_t count) {
  std::array<double, kLanes> lanes{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      lanes[static_cast<size_t>(lane)] += value * value;
    }
  }
  for (; i < count; ++i) {
    const auto value = static_cast<double>(values[i]);
    lanes[static_cast<size_t>(i % kLanes)] += value * value;
  }
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

__attribute__((target_clones("avx512f", "avx2", "default"))) double block_f32(const float* values, int64_t count) {
  return sum_of_squares(values, count);
}

__attribute__((target_clones("avx512f", "avx2", "default"))) double block_f64(const double* values, int64_t count) {
  return sum_of_squares(values, count);
}

}  // namespace

double square_sum(const float* values, int64_t count) { return block_f32(values, count); }
double square_sum(const double* values, int64_t count) { return block_f64(values, count); }

}  // namespace bertft
