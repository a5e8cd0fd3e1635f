// AdamW (Loshchilov and Hutter 2019, algorithm 2) over the flat buffers in one pass: scale, moments, decay, update.
// Matches torch.optim.AdamW.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "optim/kernels/adamw_update.h"
#include "optim/late_decay.h"
#include "optim/optimizer.h"
#include "optim/param_groups.h"

namespace bertft {

class AdamW final : public Optimizer {
 public:
  // Moments are allocated like `gradients` (flat, fp32 or fp64) and start at zero.
  AdamW(const at::Tensor& gradients, const Layout& layout, const OptimizerOptions& options);

  std::vector<NamedState> state() override;
  void settle_rows(const at::Tensor& weights, std::span<const int32_t> rows) override;
  void settle(const at::Tensor& weights) override;

 protected:
  void update(const at::Tensor& weights, const at::Tensor& gradients, const StepValues& values) override;

 private:
  template <typename T>
  AdamWConstants<T> constants_for(const ParamGroup& group, const StepValues& values) const;
  template <typename T>
  void update_on_cpu(const at::Tensor& weights, const at::Tensor& gradients, const StepValues& values);
  void choose_live_rows(const at::Tensor& weights, const StepValues& values);

  OptimizerOptions options_;
  std::vector<ParamGroup> groups_;
  at::Tensor first_moment_;   // as long as the gradients
  at::Tensor second_moment_;  // as long as the gradients
  int table_entry_ = -1;      // the lookup table, if one is trained on the CPU
  int64_t table_begin_ = 0, table_end_ = 0, table_width_ = 0;
  std::optional<LateDecay> late_decay_;  // of its rows
  bool may_have_other_moments_ = false;  // whoever asked for the state may have written to it
};

}  // namespace bertft
