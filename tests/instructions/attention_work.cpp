// Attention with dropout over packed sequences, forward and backward, and that of the trimmed last layer.
#include <cstdlib>
#include <memory>

#include "ops/kernels/cpu_kernels.h"
#include "tests/instructions/kernel_data.h"
#include "tests/instructions/workloads.h"

namespace bertft {
namespace {

using namespace instructions;

class Attention {
 public:
  explicit Attention(bool first_query_only)
      : first_query_only_(first_query_only),
        query_rows_(first_query_only ? static_cast<int64_t>(batch_.keys.size()) : batch_.rows()),
        query_(random_values(query_rows_ * kWidth, 1)),
        key_(random_values(batch_.rows() * kWidth, 2)),
        value_(random_values(batch_.rows() * kWidth, 3)),
        upstream_(random_values(query_rows_ * kWidth, 4)),
        bias_(random_values(kWidth, 5)),
        context_(query_.size()),
        d_query_(query_.size()),
        d_key_(key_.size()),
        d_value_(value_.size()),
        log_sums_(static_cast<size_t>(kHeads * query_rows_)),
        scratch_(static_cast<float*>(std::aligned_alloc(64, kScratchFloats * sizeof(float))), &std::free) {}

  void forward() {
    ops::cpu_kernels().attention({shape(), matrix(query_), matrix(key_), matrix(value_), bias_.data(), bias_.data(),
                                  bias_.data(), matrix(context_), log_sums_.data()});
  }

  void backward() {
    ops::cpu_kernels().attention_backward({shape(), rows(query_), rows(key_), rows(value_), rows(context_),
                                           rows(upstream_), log_sums_.data(), matrix(d_query_), matrix(d_key_),
                                           matrix(d_value_)});
  }

 private:
  static constexpr int64_t kScratchFloats = ops::attention_scratch_floats(Batch::kLongest, kHeadDim);

  static ops::Matrix matrix(std::vector<float>& values) { return {values.data(), kWidth}; }
  static ops::ConstMatrix rows(const std::vector<float>& values) { return {values.data(), kWidth}; }
  ops::AttentionShape shape() const {
    return {batch_.ranges(),   kHeads,           kHeadDim,       query_rows_,
            first_query_only_, batch_.dropout(), scratch_.get(), kScratchFloats};
  }

  Batch batch_;
  bool first_query_only_;
  int64_t query_rows_;
  std::vector<float> query_, key_, value_, upstream_, bias_, context_, d_query_, d_key_, d_value_, log_sums_;
  std::unique_ptr<float, decltype(&std::free)> scratch_;
};

std::function<void()> forward_of(bool first_query_only) {
  const auto attention = std::make_shared<Attention>(first_query_only);
  return [attention] { attention->forward(); };
}

std::function<void()> backward_of(bool first_query_only) {
  const auto attention = std::make_shared<Attention>(first_query_only);
  attention->forward();
  return [attention] { attention->backward(); };
}

}  // namespace

std::vector<Workload> attention_workloads() {
  return {
      {"attention", [] { return forward_of(false); }},
      {"attention_backward", [] { return backward_of(false); }},
      {"attention_cls", [] { return forward_of(true); }},
      {"attention_cls_backward", [] { return backward_of(true); }},
  };
}

}  // namespace bertft
