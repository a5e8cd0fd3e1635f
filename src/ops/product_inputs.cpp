#include "ops/product_inputs.h"

#include <ATen/ops/empty.h>

#include <bit>
#include <cstdint>

namespace bertft::ops {
namespace {

ProductInputs chosen = ProductInputs::kFull;

// The upper half of the bits, after adding just under half a unit of it, or exactly half when it is odd.
__attribute__((always_inline)) inline float rounded_value(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sum = bits + 0x7fffu + ((bits >> 16) & 1u);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return std::bit_cast<float>((is_nan ? bits | 0x00400000u : sum) & 0xffff0000u);
}

}  // namespace

void set_product_inputs(ProductInputs inputs) { chosen = inputs; }

ProductInputs product_inputs() { return chosen; }

__attribute__((target_clones("avx512f", "avx2", "default"))) void round_to_bf16(const float* values, float* rounded,
                                                                                int64_t count) {
  for (int64_t i = 0; i < count; ++i) rounded[i] = rounded_value(values[i]);
}

at::Tensor as_product_input(const at::Tensor& x) {
  if (chosen == ProductInputs::kFull || x.scalar_type() != at::kFloat) return x;
  if (!x.is_cpu() || x.stride(1) != 1) return x.to(at::kBFloat16).to(at::kFloat);
  const int64_t rows = x.size(0);
  const int64_t width = x.size(1);
  at::Tensor copy = at::empty({rows, width}, x.options());
  const float* from = x.const_data_ptr<float>();
  float* to = copy.mutable_data_ptr<float>();
  const int64_t stride = x.stride(0);
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) round_to_bf16(from + row * stride, to + row * width, width);
  return copy;
}

}  // namespace bertft::ops
