// What every update rule offers: one step over the flat buffers, and its state by name, so that a training can be saved
// and gone on with bit for bit.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/layout.h"
#include "optim/options.h"
#include "optim/table_rows.h"

namespace bertft {

// One flat tensor of an optimizer's state, as long as the gradients. It shares memory with the optimizer: copying into
// it restores the state.
struct NamedState {
  std::string name;  // "first_moment"
  at::Tensor tensor;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // One update: every gradient is multiplied by `gradient_scale` first (clipping). Counts one more applied step.
  // `weights` and `gradients`: the flat buffers of the layout that the optimizer was made for. `touched`: what is known
  // of the gradient of the word table; a rule may then leave what it does to other rows for later.
  void step(const at::Tensor& weights, const at::Tensor& gradients, double learning_rate, double gradient_scale,
            const TableRows& touched = {}) {
    ++applied_steps_;
    update(weights, gradients, {.learning_rate = learning_rate, .gradient_scale = gradient_scale, .touched = touched});
  }

  // Before weights are read: does what steps have left for later, to some rows of the word table or to all.
  virtual void settle_rows(const at::Tensor& /*weights*/, std::span<const int32_t> /*rows*/) {}
  virtual void settle(const at::Tensor& /*weights*/) {}

  // Always the same names in the same order for one set of options; empty when the rule keeps nothing.
  virtual std::vector<NamedState> state() = 0;

  // The t of bias correction: dropped steps do not count.
  int64_t applied_steps() const { return applied_steps_; }
  void set_applied_steps(int64_t steps) { applied_steps_ = steps; }

 protected:
  struct StepValues {
    double learning_rate = 0.0;
    double gradient_scale = 1.0;
    TableRows touched;
  };
  virtual void update(const at::Tensor& weights, const at::Tensor& gradients, const StepValues& values) = 0;

 private:
  int64_t applied_steps_ = 0;
};

// The rule that options.type names. State is allocated like `gradients` (flat, fp32 or fp64) and starts at zero.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, const at::Tensor& gradients,
                                          const Layout& layout);

}  // namespace bertft
