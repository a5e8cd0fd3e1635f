#include "optim/kernels/lamb_block.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace bertft {
namespace {

constexpr int64_t kLanes = 16;  // partial sums of a block: the order of summation is fixed, vectors may be any width

template <typename T>
__attribute__((always_inline)) inline T direction(T w, T m, T v, const LambConstants<T>& c) {
  return (m / c.correction) / (std::sqrt(v) / c.root_correction + c.epsilon) + c.decay * w;
}

// Updates both moments; returns the squared norms of weights and directions. Inlined into each clone below.
template <typename T>
__attribute__((always_inline)) inline SquareSums moments_of(const T* w, const T* g, T* m, T* v, int64_t count,
                                                            const LambConstants<T>& c) {
  std::array<double, kLanes> w_lanes{};
  std::array<double, kLanes> u_lanes{};
  const auto element = [&](int64_t i, size_t lane) __attribute__((always_inline)) {
    const T gradient = g[i] * c.gradient_scale;
    m[i] = m[i] + c.share1 * (gradient - m[i]);
    v[i] = c.beta2 * v[i] + c.share2 * gradient * gradient;
    const auto u = static_cast<double>(direction(w[i], m[i], v[i], c));
    const auto weight = static_cast<double>(w[i]);
    w_lanes[lane] += weight * weight;
    u_lanes[lane] += u * u;
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) element(i + lane, static_cast<size_t>(lane));
  }
  for (; i < count; ++i) element(i, static_cast<size_t>(i % kLanes));
  SquareSums sums;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    sums.weights += w_lanes[lane];
    sums.directions += u_lanes[lane];
  }
  return sums;
}

template <typename T>
__attribute__((always_inline)) inline void move_weights(T* w, const T* m, const T* v, int64_t count, T rate,
                                                        const LambConstants<T>& c) {
  for (int64_t i = 0; i < count; ++i) w[i] = w[i] - rate * direction(w[i], m[i], v[i], c);
}

#define BERTFT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))

BERTFT_CLONES SquareSums moments_f32(const float* w, const float* g, float* m, float* v, int64_t count,
                                     const LambConstants<float>& c) {
  return moments_of(w, g, m, v, count, c);
}

BERTFT_CLONES SquareSums moments_f64(const double* w, const double* g, double* m, double* v, int64_t count,
                                     const LambConstants<double>& c) {
  return moments_of(w, g, m, v, count, c);
}

BERTFT_CLONES void move_f32(float* w, const float* m, const float* v, int64_t count, float rate,
                            const LambConstants<float>& c) {
  move_weights(w, m, v, count, rate, c);
}

BERTFT_CLONES void move_f64(double* w, const double* m, const double* v, int64_t count, double rate,
                            const LambConstants<double>& c) {
  move_weights(w, m, v, count, rate, c);
}

#undef BERTFT_CLONES

}  // namespace

SquareSums lamb_moments(const float* w, const float* g, float* m, float* v, int64_t count,
                        const LambConstants<float>& c) {
  return moments_f32(w, g, m, v, count, c);
}

SquareSums lamb_moments(const double* w, const double* g, double* m, double* v, int64_t count,
                        const LambConstants<double>& c) {
  return moments_f64(w, g, m, v, count, c);
}

void lamb_move(float* w, const float* m, const float* v, int64_t count, float rate, const LambConstants<float>& c) {
  move_f32(w, m, v, count, rate, c);
}

void lamb_move(double* w, const double* m, const double* v, int64_t count, double rate,
               const LambConstants<double>& c) {
  move_f64(w, m, v, count, rate, c);
}

}  // namespace bertft
