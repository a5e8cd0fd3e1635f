// All parameters of a model: views into one flat buffer of weights and one of gradients, laid out by core/layout.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/layout.h"
#include "model/gradient_ledger.h"
#include "ops/embedding.h"

namespace bertft {

// What a block holds of a parameter, or of several that lie side by side and act as one matrix (query, key and value).
struct Parameter {
  at::Tensor value;          // view into the weights
  at::Tensor gradient;       // view into the gradients; written by backward, never by autograd's accumulation
  std::vector<int> entries;  // of the layout
  bool is_trainable = true;  // false: `gradient` is undefined and backward leaves the parameter out
};

class ParameterStore {
 public:
  // `weights` [layout.total] and `gradients` [layout.trainable_total]: flat, the same type and device. The gradients
  // start as zeros.
  ParameterStore(Layout layout, at::Tensor weights, at::Tensor gradients);
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  // Throws InternalError when there is no parameter of that name.
  Parameter parameter(const std::string& name) const;

  // Rows of all `names`, one below the other: [sum of rows, columns], or [sum] of vectors. They must be neighbours.
  Parameter fused(const std::vector<std::string>& names) const;

  const Layout& layout() const { return layout_; }
  // All weights, up to date.
  const at::Tensor& weights() const;
  // The same buffer, whose word table may wait for what before_reading() names.
  const at::Tensor& weights_in_training() const { return weights_; }
  const at::Tensor& gradients() const { return gradients_; }
  GradientLedger& ledger() { return ledger_; }
  // An input that makes autograd record a layer whose own input needs no gradient; its gradient is never computed.
  const at::Tensor& anchor() const { return anchor_; }
  // Rows of the word table whose gradient may be non-zero.
  ops::TouchedRows& touched_word_rows() { return touched_word_rows_; }

  // An optimizer may leave updates of word rows for later: `rows` does those of some rows, `all` those of all.
  struct LateUpdates {
    std::function<void(std::span<const int32_t>)> rows;
    std::function<void()> all;
  };
  void before_reading(LateUpdates late_updates) { late_updates_ = std::move(late_updates); }
  // For whoever reads rows of the word table through its Parameter.
  void settle_word_rows(std::span<const int32_t> rows) const;

  // Ends a step's accumulation: zero-fills what got no contribution and announces what is still held back. Returns the
  // names of the parameters that were filled.
  std::vector<std::string> finish_gradients();

 private:
  at::Tensor view(const at::Tensor& flat, const LayoutEntry& first, const std::vector<int64_t>& shape) const;

  Layout layout_;
  at::Tensor weights_;
  at::Tensor gradients_;
  GradientLedger ledger_;
  at::Tensor anchor_;  // [1]
  ops::TouchedRows touched_word_rows_;
  LateUpdates late_updates_;
};

}  // namespace bertft
