#include "optim/adamw.h"

#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "optim/adamw_aten.h"

namespace bertft {

AdamW::AdamW(const at::Tensor& gradients, const Layout& layout, const OptimizerOptions& options)
    : options_(options),
      groups_(param_groups(layout, options.weight_decay, options.layer_decay)),
      first_moment_(at::zeros_like(gradients)),
      second_moment_(at::zeros_like(gradients)) {
  for (size_t e = 0; e < layout.entries.size() && gradients.is_cpu(); ++e) {
    const LayoutEntry& entry = layout.entries[e];
    // Without epsilon an element whose moments are zero becomes 0 / 0, as in torch.
    if (!entry.spec.is_lookup_table || !entry.spec.is_trainable || options.epsilon == 0.0) continue;
    table_entry_ = static_cast<int>(e);
    table_begin_ = entry.offset;
    table_end_ = entry.offset + entry.size;
    table_width_ = entry.spec.shape.at(1);
    late_decay_.emplace(entry);
    break;
  }
}

std::vector<NamedState> AdamW::state() {
  may_have_other_moments_ = true;
  return {{"first_moment", first_moment_}, {"second_moment", second_moment_}};
}

void AdamW::settle_rows(const at::Tensor& weights, std::span<const int32_t> rows) {
  if (late_decay_) late_decay_->settle_rows(weights, rows);
}

void AdamW::settle(const at::Tensor& weights) {
  if (late_decay_) late_decay_->settle(weights);
}

template <typename T>
AdamWConstants<T> AdamW::constants_for(const ParamGroup& group, const StepValues& values) const {
  const auto t = static_cast<double>(applied_steps());
  const auto [beta1, beta2] = options_.betas;
  const double correction1 = options_.bias_correction ? 1.0 - std::pow(beta1, t) : 1.0;
  const double correction2 = options_.bias_correction ? 1.0 - std::pow(beta2, t) : 1.0;
  const double rate = values.learning_rate * group.rate_scale;
  return {static_cast<T>(beta2),
          static_cast<T>(options_.epsilon),
          static_cast<T>(1.0 - beta1),
          static_cast<T>(1.0 - beta2),
          static_cast<T>(values.gradient_scale),
          static_cast<T>(rate / correction1),
          static_cast<T>(std::sqrt(correction2)),
          static_cast<T>(1.0 - rate * group.weight_decay)};
}

void AdamW::update(const at::Tensor& weights, const at::Tensor& gradients, const StepValues& values) {
  if (weights.is_cpu()) {
    if (late_decay_) choose_live_rows(weights, values);
    weights.scalar_type() == at::kDouble ? update_on_cpu<double>(weights, gradients, values)
                                         : update_on_cpu<float>(weights, gradients, values);
    return;
  }
  const auto range = [](const at::Tensor& flat, const ParamGroup& group) {
    return flat.slice(0, group.begin, group.end);
  };
  for (const ParamGroup& group : groups_) {
    adamw_update_with_aten(range(weights, group), range(gradients, group), range(first_moment_, group),
                           range(second_moment_, group), constants_for<double>(group, values));
  }
}

// A scale that is no number makes one out of every zero, so then no row is left out.
void AdamW::choose_live_rows(const at::Tensor& weights, const StepValues& values) {
  if (may_have_other_moments_) late_decay_->find_live(weights, first_moment_, second_moment_);
  may_have_other_moments_ = false;
  if (values.touched.entry == table_entry_ && std::isfinite(values.gradient_scale)) {
    late_decay_->make_live(weights, values.touched.rows);
  } else {
    late_decay_->make_all_live(weights);
  }
}

template <typename T>
void AdamW::update_on_cpu(const at::Tensor& weights, const at::Tensor& gradients, const StepValues& values) {
  T* w = weights.mutable_data_ptr<T>();
  const T* g = gradients.const_data_ptr<T>();
  T* m = first_moment_.mutable_data_ptr<T>();
  T* v = second_moment_.mutable_data_ptr<T>();
  for (const ParamGroup& group : groups_) {
    const AdamWConstants<T> constants = constants_for<T>(group, values);
    const auto update_range = [&](int64_t begin, int64_t end) {
      adamw_update(w + begin, g + begin, m + begin, v + begin, end - begin, constants);
    };
    if (!late_decay_ || table_begin_ < group.begin || table_begin_ >= group.end) {
      update_range(group.begin, group.end);
      continue;
    }
    update_range(group.begin, table_begin_);
    const int64_t at = table_begin_;
    adamw_update_rows(w + at, g + at, m + at, v + at, table_width_, late_decay_->live_rows(), constants);
    late_decay_->add_factor(static_cast<double>(constants.keep));
    update_range(table_end_, group.end);
  }
}

}  // namespace bertft
