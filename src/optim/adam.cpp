#include "optim/adam.h"

#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "optim/flat_blocks.h"

namespace bertft {
namespace {

// g' = scale g + decay w;  m = m + (1 - beta1) (g' - m);  v = beta2 v + (1 - beta2) g'^2
// w = w - step_size m / (sqrt(v) / root_correction + epsilon)
template <typename T>
struct AdamConstants {
  T beta2, epsilon;
  T share1, share2;  // 1 - beta1 and 1 - beta2, subtracted in double precision
  T gradient_scale, decay;
  T step_size;        // learning rate / first bias correction
  T root_correction;  // sqrt of the second bias correction
};

// Inlined into each clone below, so that it is compiled for that clone's instruction set.
template <typename T>
__attribute__((always_inline)) inline void update_range(T* w, const T* g, T* m, T* v, int64_t count,
                                                        const AdamConstants<T>& c) {
  for (int64_t i = 0; i < count; ++i) {
    const T gradient = g[i] * c.gradient_scale + c.decay * w[i];
    m[i] = m[i] + c.share1 * (gradient - m[i]);
    v[i] = c.beta2 * v[i] + c.share2 * gradient * gradient;
    w[i] = w[i] - c.step_size * (m[i] / (std::sqrt(v[i]) / c.root_correction + c.epsilon));
  }
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void update_f32(float* w, const float* g, float* m,
                                                                             float* v, int64_t count,
                                                                             const AdamConstants<float>& c) {
  update_range(w, g, m, v, count, c);
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void update_f64(double* w, const double* g, double* m,
                                                                             double* v, int64_t count,
                                                                             const AdamConstants<double>& c) {
  update_range(w, g, m, v, count, c);
}

void update_block(float* w, const float* g, float* m, float* v, int64_t count, const AdamConstants<float>& c) {
  update_f32(w, g, m, v, count, c);
}

void update_block(double* w, const double* g, double* m, double* v, int64_t count, const AdamConstants<double>& c) {
  update_f64(w, g, m, v, count, c);
}

template <typename T>
void update_on_cpu(const at::Tensor& weights, const at::Tensor& gradients, const at::Tensor& first,
                   const at::Tensor& second, const AdamConstants<T>& c) {
  T* w = weights.mutable_data_ptr<T>();
  const T* g = gradients.const_data_ptr<T>();
  T* m = first.mutable_data_ptr<T>();
  T* v = second.mutable_data_ptr<T>();
  for_each_block(weights.numel(),
                 [&](int64_t at, int64_t count) { update_block(w + at, g + at, m + at, v + at, count, c); });
}

void update_with_aten(at::Tensor weights, const at::Tensor& gradients, at::Tensor first, at::Tensor second,
                      const AdamConstants<double>& c) {
  const at::Tensor gradient = at::add(at::mul(gradients, c.gradient_scale), weights, c.decay);
  first.lerp_(gradient, c.share1);
  second.mul_(c.beta2).addcmul_(gradient, gradient, c.share2);
  weights.addcdiv_(first, at::sqrt(second).div_(c.root_correction).add_(c.epsilon), -c.step_size);
}

AdamConstants<float> to_float(const AdamConstants<double>& c) {
  const auto f = [](double value) { return static_cast<float>(value); };
  return {f(c.beta2),          f(c.epsilon), f(c.share1),    f(c.share2),
          f(c.gradient_scale), f(c.decay),   f(c.step_size), f(c.root_correction)};
}

}  // namespace

Adam::Adam(const at::Tensor& gradients, const Layout& layout, const OptimizerOptions& options)
    : options_(options),
      groups_(param_groups(layout, options.weight_decay, options.layer_decay)),
      first_moment_(at::zeros_like(gradients)),
      second_moment_(at::zeros_like(gradients)) {}

std::vector<NamedState> Adam::state() { return {{"first_moment", first_moment_}, {"second_moment", second_moment_}}; }

void Adam::update(const at::Tensor& weights, const at::Tensor& gradients, const StepValues& values) {
  const auto t = static_cast<double>(applied_steps());
  const auto [beta1, beta2] = options_.betas;
  const double correction1 = options_.bias_correction ? 1.0 - std::pow(beta1, t) : 1.0;
  const double correction2 = options_.bias_correction ? 1.0 - std::pow(beta2, t) : 1.0;
  for (const ParamGroup& group : groups_) {
    const auto range = [&](const at::Tensor& flat) { return flat.slice(0, group.begin, group.end); };
    const AdamConstants<double> c = {beta2,
                                     options_.epsilon,
                                     1.0 - beta1,
                                     1.0 - beta2,
                                     values.gradient_scale,
                                     group.weight_decay,
                                     values.learning_rate * group.rate_scale / correction1,
                                     std::sqrt(correction2)};
    if (!weights.is_cpu()) {
      update_with_aten(range(weights), range(gradients), range(first_moment_), range(second_moment_), c);
    } else if (weights.scalar_type() == at::kDouble) {
      update_on_cpu<double>(range(weights), range(gradients), range(first_moment_), range(second_moment_), c);
    } else {
      update_on_cpu<float>(range(weights), range(gradients), range(first_moment_), range(second_moment_), to_float(c));
    }
  }
}

}  // namespace bertft
