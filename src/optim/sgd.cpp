#include "optim/sgd.h"

#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/zeros_like.h>

#include "optim/flat_blocks.h"

namespace bertft {
namespace {

// d = scale g + decay w;  b = momentum b + d;  w = w - rate b
template <typename T>
struct SgdConstants {
  T gradient_scale, decay, momentum, rate;
};

// Inlined into each clone below, so that it is compiled for that clone's instruction set.
template <typename T>
__attribute__((always_inline)) inline void update_range(T* w, const T* g, T* b, int64_t count,
                                                        const SgdConstants<T>& c) {
  if (b == nullptr) {
    for (int64_t i = 0; i < count; ++i) w[i] = w[i] - c.rate * (g[i] * c.gradient_scale + c.decay * w[i]);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    b[i] = c.momentum * b[i] + (g[i] * c.gradient_scale + c.decay * w[i]);
    w[i] = w[i] - c.rate * b[i];
  }
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void update_f32(float* w, const float* g, float* b,
                                                                             int64_t count,
                                                                             const SgdConstants<float>& c) {
  update_range(w, g, b, count, c);
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void update_f64(double* w, const double* g, double* b,
                                                                             int64_t count,
                                                                             const SgdConstants<double>& c) {
  update_range(w, g, b, count, c);
}

void update_block(float* w, const float* g, float* b, int64_t count, const SgdConstants<float>& c) {
  update_f32(w, g, b, count, c);
}

void update_block(double* w, const double* g, double* b, int64_t count, const SgdConstants<double>& c) {
  update_f64(w, g, b, count, c);
}

template <typename T>
void update_on_cpu(const at::Tensor& weights, const at::Tensor& gradients, const at::Tensor& buffer,
                   const SgdConstants<T>& c) {
  T* w = weights.mutable_data_ptr<T>();
  const T* g = gradients.const_data_ptr<T>();
  T* b = buffer.defined() ? buffer.mutable_data_ptr<T>() : nullptr;
  for_each_block(weights.numel(), [&](int64_t at, int64_t count) {
    update_block(w + at, g + at, b == nullptr ? nullptr : b + at, count, c);
  });
}

void update_with_aten(at::Tensor weights, const at::Tensor& gradients, at::Tensor buffer,
                      const SgdConstants<double>& c) {
  at::Tensor direction = at::add(at::mul(gradients, c.gradient_scale), weights, c.decay);
  if (buffer.defined()) direction = buffer.mul_(c.momentum).add_(direction);
  weights.sub_(direction, c.rate);
}

}  // namespace

Sgd::Sgd(const at::Tensor& gradients, const Layout& layout, const OptimizerOptions& options)
    : momentum_(options.momentum), groups_(param_groups(layout, options.weight_decay, options.layer_decay)) {
  if (momentum_ > 0.0) buffer_ = at::zeros_like(gradients);
}

std::vector<NamedState> Sgd::state() {
  if (!buffer_.defined()) return {};
  return {{"momentum", buffer_}};
}

void Sgd::update(const at::Tensor& weights, const at::Tensor& gradients, const StepValues& values) {
  for (const ParamGroup& group : groups_) {
    const auto range = [&](const at::Tensor& flat) {
      return flat.defined() ? flat.slice(0, group.begin, group.end) : flat;
    };
    const SgdConstants<double> c = {values.gradient_scale, group.weight_decay, momentum_,
                                    values.learning_rate * group.rate_scale};
    if (!weights.is_cpu()) {
      update_with_aten(range(weights), range(gradients), range(buffer_), c);
    } else if (weights.scalar_type() == at::kDouble) {
      update_on_cpu<double>(range(weights), range(gradients), range(buffer_), c);
    } else {
      update_on_cpu<float>(range(weights), range(gradients), range(buffer_),
                           {static_cast<float>(c.gradient_scale), static_cast<float>(c.decay),
                            static_cast<float>(c.momentum), static_cast<float>(c.rate)});
    }
  }
}

}  // namespace bertft
