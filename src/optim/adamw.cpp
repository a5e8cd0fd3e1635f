#include "optim/adamw.h"

#include <ATen/ops/mul.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace bertft {
namespace {

constexpr int64_t kBlock = 1 << 15;  // elements per piece of work

// The constants of one step, in the type of the buffers.
template <typename T>
struct StepConstants {
  T beta1, beta2, epsilon;
  T gradient_scale;
  T step_size;        // learning rate / first bias correction
  T root_correction;  // sqrt of the second bias correction
  T keep;             // 1 - learning rate * weight decay
};

// Inlined into each clone below, so that it is compiled for that clone's instruction set.
template <typename T>
__attribute__((always_inline)) inline void update(T* w, const T* g, T* m, T* v, int64_t count,
                                                  const StepConstants<T>& c) {
  for (int64_t i = 0; i < count; ++i) {
    const T gradient = g[i] * c.gradient_scale;
    m[i] = m[i] + (T(1) - c.beta1) * (gradient - m[i]);
    v[i] = c.beta2 * v[i] + (T(1) - c.beta2) * gradient * gradient;
    const T denominator = std::sqrt(v[i]) / c.root_correction + c.epsilon;
    w[i] = w[i] * c.keep - c.step_size * (m[i] / denominator);
  }
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void update_block(float* w, const float* g, float* m,
                                                                               float* v, int64_t count,
                                                                               const StepConstants<float>& c) {
  update(w, g, m, v, count, c);
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void update_block(double* w, const double* g, double* m,
                                                                               double* v, int64_t count,
                                                                               const StepConstants<double>& c) {
  update(w, g, m, v, count, c);
}

template <typename T>
void update_range(T* w, const T* g, T* m, T* v, int64_t begin, int64_t end, const StepConstants<T>& c) {
  const int64_t blocks = (end - begin + kBlock - 1) / kBlock;
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t at = begin + b * kBlock;
    update_block(w + at, g + at, m + at, v + at, std::min(kBlock, end - at), c);
  }
}

// The same update by ATen operations, for devices without a kernel of our own.
void update_with_aten(at::Tensor w, const at::Tensor& g, at::Tensor m, at::Tensor v, const StepConstants<double>& c) {
  const at::Tensor gradient = at::mul(g, c.gradient_scale);
  m.lerp_(gradient, 1.0 - c.beta1);
  v.mul_(c.beta2).addcmul_(gradient, gradient, 1.0 - c.beta2);
  w.mul_(c.keep).addcdiv_(m, at::sqrt(v).div_(c.root_correction).add_(c.epsilon), -c.step_size);
}

}  // namespace

AdamW::AdamW(const at::Tensor& weights, const Layout& layout, const OptimizerOptions& options)
    : options_(options),
      groups_(param_groups(layout, options.weight_decay)),
      first_moment_(at::zeros_like(weights)),
      second_moment_(at::zeros_like(weights)) {}

void AdamW::step(const at::Tensor& weights, const at::Tensor& gradients, double learning_rate, double gradient_scale) {
  ++applied_steps_;
  const auto t = static_cast<double>(applied_steps_);
  const auto [beta1, beta2] = options_.betas;
  const double correction1 = options_.bias_correction ? 1.0 - std::pow(beta1, t) : 1.0;
  const double correction2 = options_.bias_correction ? 1.0 - std::pow(beta2, t) : 1.0;
  const auto constants_for = [&]<typename T>(T, const ParamGroup& group) {
    return StepConstants<T>{static_cast<T>(beta1),
                            static_cast<T>(beta2),
                            static_cast<T>(options_.epsilon),
                            static_cast<T>(gradient_scale),
                            static_cast<T>(learning_rate / correction1),
                            static_cast<T>(std::sqrt(correction2)),
                            static_cast<T>(1.0 - learning_rate * group.weight_decay)};
  };
  const auto run_on_cpu = [&]<typename T>(T type) {
    for (const ParamGroup& group : groups_) {
      update_range(weights.mutable_data_ptr<T>(), gradients.const_data_ptr<T>(), first_moment_.mutable_data_ptr<T>(),
                   second_moment_.mutable_data_ptr<T>(), group.begin, group.end, constants_for(type, group));
    }
  };
  if (weights.is_cpu()) {
    weights.scalar_type() == at::kDouble ? run_on_cpu(double{}) : run_on_cpu(float{});
    return;
  }
  for (const ParamGroup& group : groups_) {
    const auto range = [&](const at::Tensor& flat) { return flat.slice(0, group.begin, group.end); };
    update_with_aten(range(weights), range(gradients), range(first_moment_), range(second_moment_),
                     constants_for(double{}, group));
  }
}

}  // namespace bertft
