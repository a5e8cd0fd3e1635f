#include "comm/native/node_sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "comm/wire/wire_kernels.h"
#include "core/error.h"

namespace bertft::native {
namespace {

constexpr int64_t kBlock = 2048;  // elements that are searched together for values that are no numbers

template <typename Element>
class ElementSum {
 public:
  using OnWrong = std::function<void(size_t source, ElementRange block)>;

  ElementSum(const NodeSum& sum, const OnWrong& on_wrong)
      : sum_(sum), on_wrong_(on_wrong), sources_(sum.sources.size()), outputs_(sum.outputs.size()) {}

  void run() {
    for (int64_t at = sum_.range.begin; at < sum_.range.end; at += kBlock) {
      const int64_t end = std::min(at + kBlock, sum_.range.end);
      const int64_t finite_end = at + sum_finite(at, end);
      if (finite_end < end) sum_wrong({finite_end, end});
    }
  }

 private:
  void point_to(int64_t at) {
    for (size_t i = 0; i < sources_.size(); ++i) {
      sources_[i] = reinterpret_cast<const Element*>(sum_.sources[i]) + at;
    }
    for (size_t i = 0; i < outputs_.size(); ++i) outputs_[i] = reinterpret_cast<Element*>(sum_.outputs[i]) + at;
  }

  // In one pass, up to a value that is no number; returns how many elements were written.
  int64_t sum_finite(int64_t at, int64_t end) {
    point_to(at);
    const auto sources = static_cast<int>(sources_.size()), outputs = static_cast<int>(outputs_.size());
    if constexpr (sizeof(Element) == sizeof(float)) {
      return wire::kernels().sum_into(sources_.data(), sources, end - at, outputs_.data(), outputs);
    } else {
      return wire::kernels().sum_doubles_into(sources_.data(), sources, end - at, outputs_.data(), outputs);
    }
  }

  // Outputs may be sources, so sums wait beside them until the sources have been looked at.
  void sum_wrong(ElementRange block) {
    point_to(block.begin);
    std::array<Element, kBlock> sums;
    const auto sources = static_cast<int>(sources_.size());
    if constexpr (sizeof(Element) == sizeof(float)) {
      wire::kernels().sum(sources_.data(), sources, block.size(), sums.data());
    } else {
      wire::kernels().sum_doubles(sources_.data(), sources, block.size(), sums.data());
    }
    for (size_t i = 0; i < sources_.size(); ++i) on_wrong_(i, block);
    for (Element* output : outputs_) {
      std::memcpy(output, sums.data(), static_cast<size_t>(block.size()) * sizeof(Element));
    }
  }

  const NodeSum& sum_;
  const OnWrong& on_wrong_;
  std::vector<const Element*> sources_;
  std::vector<Element*> outputs_;
};

}  // namespace

void sum_range(const NodeSum& sum, const std::function<void(size_t, ElementRange)>& on_wrong) {
  const wire::IeeeArithmetic ieee;
  if (sum.element_bytes == sizeof(float)) {
    ElementSum<float>(sum, on_wrong).run();
  } else {
    check(sum.element_bytes == sizeof(double), "gradients are floats or doubles");
    ElementSum<double>(sum, on_wrong).run();
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
