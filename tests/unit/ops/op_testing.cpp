#include "tests/unit/ops/op_testing.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "ops/implementation.h"
#include "ops/kernels/cpu_kernels.h"

namespace bertft::ops::test {

at::Tensor random_tensor(at::IntArrayRef sizes, uint64_t seed, at::ScalarType type) {
  at::Tensor x = at::empty(sizes, at::kDouble);
  auto* values = x.mutable_data_ptr<double>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    values[i] = counter_normal(mix64(seed), static_cast<uint64_t>(i));
  }
  return x.to(at::kFloat).to(type);
}

Sequences sequences_of(const std::vector<int32_t>& lengths) {
  Sequences sequences;
  sequences.offsets.push_back(0);
  for (const int32_t length : lengths) {
    sequences.offsets.push_back(sequences.offsets.back() + length);
    sequences.max_length = std::max<int64_t>(sequences.max_length, length);
  }
  return sequences;
}

Dropout dropout_of(double probability, const Sequences& sequences, uint64_t seed) {
  Dropout dropout;
  dropout.probability = probability;
  for (int64_t s = 0; s < sequences.count(); ++s) {
    dropout.keys.push_back(stream_key(seed, s));
  }
  return dropout;
}

at::Tensor as_double(const at::Tensor& x) { return x.to(at::kDouble); }

double inner_product(const at::Tensor& a, const at::Tensor& b) {
  return as_double(a).mul(as_double(b)).sum().item<double>();
}

double difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return INFINITY;
  const at::Tensor distance = as_double(a).sub(as_double(b));
  const double norm = std::sqrt(inner_product(b, b));
  return std::sqrt(inner_product(distance, distance)) / (norm > 0.0 ? norm : 1.0);
}

bool is_same(const at::Tensor& a, const at::Tensor& b) { return at::equal(a, b); }

void for_each_kernel_level(const std::function<void(InstructionSet)>& body) {
  const InstructionSet best = instruction_set();
  for (const InstructionSet level : {InstructionSet::kScalar, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (level > best) continue;
    use_kernel_level(level);
    body(level);
  }
  use_kernel_level(best);
}

void with_aten(const std::function<void()>& body) {
  set_implementation(Implementation::kAten);
  body();
  set_implementation(Implementation::kAuto);
}

double gradient_error(at::Tensor variable, const at::Tensor& analytic, const std::function<double()>& loss) {
  constexpr double kStep = 1e-5;
  const at::Tensor expected = analytic.contiguous();
  double worst = 0.0;
  for (int64_t i = 0; i < variable.numel(); ++i) {
    int64_t offset = 0, rest = i;
    for (int64_t dim = variable.dim() - 1; dim >= 0; --dim) {
      offset += rest % variable.size(dim) * variable.stride(dim);
      rest /= variable.size(dim);
    }
    double& element = variable.mutable_data_ptr<double>()[offset];
    const double original = element;
    element = original + kStep;
    const double above = loss();
    element = original - kStep;
    const double below = loss();
    element = original;
    const double gradient = expected.const_data_ptr<double>()[i];
    const double error = std::abs((above - below) / (2.0 * kStep) - gradient) / (1.0 + std::abs(gradient));
    worst = std::isnan(error) ? error : std::max(worst, error);
  }
  return worst;
}

}  // namespace bertft::ops::test
