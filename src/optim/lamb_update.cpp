#include "optim/lamb_update.h"

#include <ATen/ops/add.h>
#include <ATen/ops/div.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sqrt.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace bertft {
namespace {

constexpr int64_t kLanes = 16;  // partial sums of a block: the order of summation is fixed, vectors may be any width

struct SquareSums {
  double weights = 0.0;
  double directions = 0.0;
};

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

template <typename T>
LambConstants<T> narrowed(const LambConstants<double>& c) {
  const auto t = [](double value) { return static_cast<T>(value); };
  return {t(c.beta2),          t(c.epsilon), t(c.share1),     t(c.share2),
          t(c.gradient_scale), t(c.decay),   t(c.correction), t(c.root_correction)};
}

double trust_ratio(const SquareSums& sums) {
  const bool is_defined = sums.weights > 0.0 && sums.directions > 0.0;
  return is_defined ? std::sqrt(sums.weights) / std::sqrt(sums.directions) : 1.0;
}

template <typename T, typename Moments, typename Move>
void update_on_cpu(const LambBuffers& buffers, const std::vector<LambBlock>& blocks,
                   const std::vector<LambParameter>& parameters, const Moments& moments, const Move& move) {
  T* w = buffers.weights.mutable_data_ptr<T>();
  const T* g = buffers.gradients.const_data_ptr<T>();
  T* m = buffers.first_moment.mutable_data_ptr<T>();
  T* v = buffers.second_moment.mutable_data_ptr<T>();
  const auto count = static_cast<int64_t>(blocks.size());
  std::vector<SquareSums> partial(blocks.size());
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < count; ++b) {
    const LambBlock& block = blocks[static_cast<size_t>(b)];
    const int64_t at = block.begin;
    partial[static_cast<size_t>(b)] =
        moments(w + at, g + at, m + at, v + at, block.size, narrowed<T>(parameters[block.entry].constants));
  }
  std::vector<SquareSums> sums(parameters.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    sums[blocks[b].entry].weights += partial[b].weights;
    sums[blocks[b].entry].directions += partial[b].directions;
  }
  std::vector<double> rates;
  for (size_t e = 0; e < parameters.size(); ++e) {
    rates.push_back(parameters[e].rate * (parameters[e].is_adapted ? trust_ratio(sums[e]) : 1.0));
  }
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < count; ++b) {
    const LambBlock& block = blocks[static_cast<size_t>(b)];
    const int64_t at = block.begin;
    move(w + at, m + at, v + at, block.size, static_cast<T>(rates[block.entry]),
         narrowed<T>(parameters[block.entry].constants));
  }
}

}  // namespace

std::vector<LambBlock> lamb_blocks(const Layout& layout) {
  std::vector<LambBlock> blocks;
  for (size_t e = 0; e < layout.entries.size(); ++e) {
    const LayoutEntry& entry = layout.entries[e];
    if (!entry.spec.is_trainable) break;  // all behind it are frozen, too
    for (int64_t at = 0; at < entry.size; at += entry.norm_block) {
      blocks.push_back({entry.offset + at, std::min(entry.norm_block, entry.size - at), e});
    }
  }
  return blocks;
}

void lamb_update(const LambBuffers& buffers, const std::vector<LambBlock>& blocks,
                 const std::vector<LambParameter>& parameters) {
  if (buffers.weights.scalar_type() == at::kDouble) {
    update_on_cpu<double>(buffers, blocks, parameters, moments_f64, move_f64);
  } else {
    update_on_cpu<float>(buffers, blocks, parameters, moments_f32, move_f32);
  }
}

void lamb_update_with_aten(const LambBuffers& buffers, const Layout& layout,
                           const std::vector<LambParameter>& parameters) {
  for (size_t e = 0; e < parameters.size(); ++e) {
    const LayoutEntry& entry = layout.entries[e];
    const LambConstants<double>& c = parameters[e].constants;
    const auto part = [&](const at::Tensor& flat) { return flat.narrow(0, entry.offset, entry.size); };
    at::Tensor w = part(buffers.weights);
    at::Tensor m = part(buffers.first_moment);
    at::Tensor v = part(buffers.second_moment);
    const at::Tensor gradient = at::mul(part(buffers.gradients), c.gradient_scale);
    m.lerp_(gradient, c.share1);
    v.mul_(c.beta2).addcmul_(gradient, gradient, c.share2);
    const at::Tensor adam = at::div(m, c.correction).div_(at::sqrt(v).div_(c.root_correction).add_(c.epsilon));
    const at::Tensor u = adam.add_(w, c.decay);
    SquareSums sums;
    if (parameters[e].is_adapted) {
      sums.weights = w.to(at::kDouble).square().sum().item<double>();
      sums.directions = u.to(at::kDouble).square().sum().item<double>();
    }
    w.sub_(u, parameters[e].rate * (parameters[e].is_adapted ? trust_ratio(sums) : 1.0));
  }
}

}  // namespace bertft
