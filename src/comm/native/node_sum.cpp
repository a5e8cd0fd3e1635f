#include "comm/native/node_sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "comm/wire/wire_kernels.h"
#include "core/error.h"

namespace bertft::native {
namespace {

constexpr int64_t kBlock = 2048;  // elements: with two sources it fits a 32 KiB cache beside them

template <typename Element>
auto kernel_for() {
  if constexpr (sizeof(Element) == sizeof(float)) {
    return wire::kernels().sum;
  } else {
    return wire::kernels().sum_doubles;
  }
}

template <typename Element>
void sum_elements(const NodeSum& sum, const std::function<void(size_t, ElementRange)>& on_wrong) {
  alignas(64) std::array<Element, kBlock> block;
  std::vector<const Element*> sources(sum.sources.size());
  const auto kernel = kernel_for<Element>();
  for (int64_t at = sum.range.begin; at < sum.range.end; at += kBlock) {
    const int64_t count = std::min(kBlock, sum.range.end - at);
    for (size_t i = 0; i < sources.size(); ++i) {
      sources[i] = reinterpret_cast<const Element*>(sum.sources[i]) + at;
    }
    if (kernel(sources.data(), static_cast<int>(sources.size()), count, block.data())) {
      for (size_t i = 0; i < sources.size(); ++i) {
        on_wrong(i, {at, at + count});
      }
    }
    for (std::byte* output : sum.outputs) {
      std::memcpy(reinterpret_cast<Element*>(output) + at, block.data(), static_cast<size_t>(count) * sizeof(Element));
    }
  }
}

}  // namespace

void sum_range(const NodeSum& sum, const std::function<void(size_t, ElementRange)>& on_wrong) {
  const wire::IeeeArithmetic ieee;
  if (sum.element_bytes == sizeof(float)) {
    sum_elements<float>(sum, on_wrong);
  } else {
    check(sum.element_bytes == sizeof(double), "gradients are floats or doubles");
    sum_elements<double>(sum, on_wrong);
  }
}

bool has_non_finite(const std::byte* buffer, ElementRange range, size_t element_bytes) {
  if (element_bytes == sizeof(float)) {
    return std::isinf(wire::kernels().largest(reinterpret_cast<const float*>(buffer) + range.begin, range.size()));
  }
  const double* x = reinterpret_cast<const double*>(buffer);
  return std::any_of(x + range.begin, x + range.end, [](double value) { return !std::isfinite(value); });
}

}  // namespace bertft::native
