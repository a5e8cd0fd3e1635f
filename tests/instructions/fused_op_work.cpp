// The fused operations: embeddings with norm and dropout, residual with norm and dropout, GELU with its bias.
#include <memory>

#include "ops/kernels/cpu_kernels.h"
#include "tests/instructions/kernel_data.h"
#include "tests/instructions/workloads.h"

namespace bertft {
namespace {

using namespace instructions;

// The buffers of one norm, forward and backward.
class Norm {
 public:
  Norm()
      : size_(batch_.rows() * kWidth),
        x_(random_values(size_, 1)),
        residual_(random_values(size_, 2)),
        upstream_(random_values(size_, 3)),
        bias_(random_values(kWidth, 4)),
        weight_(random_values(kWidth, 5)),
        shift_(random_values(kWidth, 6)),
        output_(x_.size()),
        d_sum_(x_.size()),
        d_x_(x_.size()),
        mean_(static_cast<size_t>(batch_.rows())),
        rstd_(mean_.size()),
        d_weight_(bias_.size()),
        d_shift_(bias_.size()),
        d_bias_(bias_.size()),
        scratch_(static_cast<size_t>(ops::norm_scratch_floats(batch_.rows(), kWidth))),
        word_(random_values(kWords * kWidth, 7)),
        position_(random_values(Batch::kLongest * kWidth, 8)),
        type_ids_(mean_.size(), 0) {
    for (size_t s = 0; s < batch_.keys.size(); ++s) {
      for (int32_t i = 0; i < batch_.offsets[s + 1] - batch_.offsets[s]; ++i) {
        word_ids_.push_back(static_cast<int32_t>(mix64(word_ids_.size()) % kWords));
        position_ids_.push_back(i);
      }
    }
  }

  void residual_norm() { ops::cpu_kernels().residual_norm({norm(), rows(x_), rows(residual_), bias_.data()}); }
  void residual_norm_backward() {
    ops::cpu_kernels().residual_norm_backward({norm_backward(), matrix(d_x_), d_bias_.data()});
  }
  void embedding_norm() {
    ops::cpu_kernels().embedding_norm(
        {norm(), rows(word_), rows(position_), rows(bias_), word_ids_.data(), position_ids_.data(), type_ids_.data()});
  }
  void embedding_norm_backward() {
    ops::cpu_kernels().embedding_norm_backward(norm_backward());
    ops::cpu_kernels().scatter_rows({rows(d_sum_), batch_.rows(), kWidth, word_ids_.data(), matrix(word_)});
  }

 private:
  static constexpr int64_t kWords = 500;

  static ops::Matrix matrix(std::vector<float>& values) { return {values.data(), kWidth}; }
  static ops::ConstMatrix rows(const std::vector<float>& values) { return {values.data(), kWidth}; }
  ops::NormForward norm() {
    return {batch_.rows(),    kWidth,     weight_.data(),  shift_.data(), kEpsilon,    batch_.ranges(),
            batch_.dropout(), matrix(x_), matrix(output_), mean_.data(),  rstd_.data()};
  }
  ops::NormBackward norm_backward() {
    return {batch_.rows(),  kWidth,          rows(upstream_),  rows(x_),        mean_.data(),     rstd_.data(),
            weight_.data(), batch_.ranges(), batch_.dropout(), scratch_.data(), d_weight_.data(), d_shift_.data(),
            0.0f,           matrix(d_sum_)};
  }

  Batch batch_;
  int64_t size_;
  std::vector<float> x_, residual_, upstream_, bias_, weight_, shift_, output_, d_sum_, d_x_, mean_, rstd_, d_weight_,
      d_shift_, d_bias_, scratch_, word_, position_;
  std::vector<int32_t> word_ids_, position_ids_, type_ids_;
};

// Work that needs what `before` leaves behind.
std::function<void()> norm_work(void (Norm::*work)(), void (Norm::*before)() = nullptr) {
  const auto norm = std::make_shared<Norm>();
  if (before != nullptr) ((*norm).*before)();
  return [norm, work] { ((*norm).*work)(); };
}

// Rows between the two matrices of a feed-forward block.
struct Gelu {
  static constexpr int64_t kRows = 64, kInner = 4 * kWidth;
  std::vector<float> x = random_values(kRows * kInner, 1), bias = random_values(kInner, 2), y = x, sums = bias;
};

std::function<void()> gelu_forward() {
  const auto data = std::make_shared<Gelu>();
  return [data] {
    ops::cpu_kernels().bias_gelu(Gelu::kRows, Gelu::kInner, {data->x.data(), Gelu::kInner}, data->bias.data(),
                                 {data->y.data(), Gelu::kInner});
  };
}

std::function<void()> gelu_backward() {
  const auto data = std::make_shared<Gelu>();
  return [data] {
    ops::cpu_kernels().gelu_backward(Gelu::kRows, Gelu::kInner, {data->y.data(), Gelu::kInner},
                                     {data->x.data(), Gelu::kInner});
    ops::cpu_kernels().column_sums(Gelu::kRows, Gelu::kInner, {data->y.data(), Gelu::kInner}, 0.0f, data->sums.data());
  };
}

}  // namespace

std::vector<Workload> fused_op_workloads() {
  return {
      {"residual_norm", [] { return norm_work(&Norm::residual_norm); }},
      {"residual_norm_backward", [] { return norm_work(&Norm::residual_norm_backward, &Norm::residual_norm); }},
      {"embedding_norm", [] { return norm_work(&Norm::embedding_norm); }},
      {"embedding_norm_backward", [] { return norm_work(&Norm::embedding_norm_backward, &Norm::embedding_norm); }},
      {"gelu", [] { return gelu_forward(); }},
      {"gelu_backward", [] { return gelu_backward(); }},
  };
}

}  // namespace bertft
