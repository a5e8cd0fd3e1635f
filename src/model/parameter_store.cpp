#include "model/parameter_store.h"

#include <ATen/ops/zeros.h>

#include <utility>

#include "core/error.h"

namespace bertft {

ParameterStore::ParameterStore(Layout layout, at::Tensor weights, at::Tensor gradients)
    : layout_(std::move(layout)),
      weights_(std::move(weights)),
      gradients_(std::move(gradients)),
      ledger_(layout_),
      anchor_(at::zeros({1}, weights_.options()).requires_grad_()) {
  check(weights_.numel() == layout_.total && gradients_.numel() == layout_.trainable_total,
        "buffers do not fit the layout");
}

const at::Tensor& ParameterStore::weights() const {
  if (late_updates_.all) late_updates_.all();
  return weights_;
}

void ParameterStore::settle_word_rows(std::span<const int32_t> rows) const {
  if (late_updates_.rows) late_updates_.rows(rows);
}

Parameter ParameterStore::parameter(const std::string& name) const { return fused({name}); }

Parameter ParameterStore::fused(const std::vector<std::string>& names) const {
  Parameter parameter;
  std::vector<int64_t> shape;
  int64_t next = -1;
  for (const std::string& name : names) {
    const int index = layout_.find(name);
    if (index < 0) throw InternalError("the layout has no parameter " + name);
    const LayoutEntry& entry = layout_.entries[static_cast<size_t>(index)];
    if (parameter.entries.empty()) {
      shape = entry.spec.shape;
    } else {
      check(entry.offset == next, "parameters that act as one matrix must lie side by side");
      shape[0] += entry.spec.shape[0];
    }
    next = entry.offset + entry.size;
    parameter.entries.push_back(index);
  }
  const LayoutEntry& first = layout_.entries[static_cast<size_t>(parameter.entries.front())];
  parameter.value = view(weights_, first, shape);
  parameter.is_trainable = first.spec.is_trainable;
  if (parameter.is_trainable) parameter.gradient = view(gradients_, first, shape);
  return parameter;
}

at::Tensor ParameterStore::view(const at::Tensor& flat, const LayoutEntry& first,
                                const std::vector<int64_t>& shape) const {
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  return flat.narrow(0, first.offset, size).view(shape);
}

std::vector<std::string> ParameterStore::finish_gradients() {
  std::vector<std::string> filled;
  for (const int index : ledger_.missing()) {
    const LayoutEntry& entry = layout_.entries[static_cast<size_t>(index)];
    gradients_.narrow(0, entry.offset, entry.size).zero_();
    if (entry.spec.is_lookup_table) touched_word_rows_.rows.clear();
    filled.push_back(entry.spec.name);
  }
  ledger_.release();
  return filled;
}

}  // namespace bertft
