#include "tests/unit/ops/kernels/kernel_testing.h"

#include <cmath>

#include "core/rng.h"
#include "ops/kernels/cpu_kernels.h"

namespace bertft::ops::test {

std::vector<float> random_values(int64_t count, uint64_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(counter_normal(mix64(seed), i));
  }
  return values;
}

void for_each_level(const std::function<void(const CpuKernels&, InstructionSet)>& body) {
  const InstructionSet best = instruction_set();
  for (const InstructionSet level : {InstructionSet::kScalar, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (level > best) continue;
    use_kernel_level(level);
    body(cpu_kernels(), level);
  }
  use_kernel_level(best);
}

std::vector<int32_t> offsets_of(const std::vector<int32_t>& lengths) {
  std::vector<int32_t> offsets = {0};
  for (const int32_t length : lengths) {
    offsets.push_back(offsets.back() + length);
  }
  return offsets;
}

DropoutStream stream_of(const std::vector<uint64_t>& keys, bool is_active) {
  return {is_active ? keys.data() : nullptr, is_active ? dropout_threshold(0.25) : 0,
          is_active ? static_cast<float>(1.0 / 0.75) : 1.0f};
}

double factor_of(const DropoutStream& dropout, int64_t sequence, int64_t index) {
  if (dropout.keys == nullptr) return 1.0;
  const uint32_t bits = counter_bits(dropout.keys[sequence], static_cast<uint32_t>(index));
  return bits < dropout.threshold ? 0.0 : 1.0 / 0.75;
}

double distance(const std::vector<float>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return INFINITY;
  double error = 0.0, norm = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(error / (norm > 0.0 ? norm : 1.0));
}

}  // namespace bertft::ops::test
