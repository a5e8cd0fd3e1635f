#include "optim/lamb_update.h"

#include <ATen/ops/add.h>
#include <ATen/ops/div.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sqrt.h>

#include <algorithm>
#include <cmath>

namespace bertft {
namespace {

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

template <typename T>
void update_on_cpu(const LambBuffers& buffers, const std::vector<LambBlock>& blocks,
                   const std::vector<LambParameter>& parameters) {
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
        lamb_moments(w + at, g + at, m + at, v + at, block.size, narrowed<T>(parameters[block.entry].constants));
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
    lamb_move(w + at, m + at, v + at, block.size, static_cast<T>(rates[block.entry]),
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
    update_on_cpu<double>(buffers, blocks, parameters);
  } else {
    update_on_cpu<float>(buffers, blocks, parameters);
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
