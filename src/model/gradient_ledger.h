// Keeps the books of one step's gradients: whether a contribution is the first (and overwrites) or a later one (and
// adds), and when a unit of the flat buffer is complete and may leave.
//
// A parameter may be used several times in one micro-batch (tied weights, shared layers): each user declares its use,
// and a unit is ready when, in the last micro-batch, every declared use of every parameter in it has contributed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/layout.h"

namespace bertft {

class GradientLedger {
 public:
  explicit GradientLedger(const Layout& layout);

  // Once per use, while the model is built. `entries` index layout.entries; uses of frozen ones are never waited for.
  void declare_use(const std::vector<int>& entries);
  // How often `entry` was declared; more than once when it is tied.
  int uses(int entry) const { return uses_.at(static_cast<size_t>(entry)); }

  // `listener` is called on the thread of backward, right after the last write to a unit, once per unit and step.
  void on_unit_ready(std::function<void(int unit)> listener) { listener_ = std::move(listener); }

  void begin_step();
  void begin_micro_batch(bool is_last) { is_last_micro_batch_ = is_last; }

  // What a contribution multiplies the present content of the gradient with: 0 for the first of the step, else 1.
  // All `entries` must agree.
  double beta(const std::vector<int>& entries) const;
  void contributed(const std::vector<int>& entries);

  // After the last backward of the step: the entries that got no contribution. The caller fills them with zeros, then
  // release() announces every unit that is still held back.
  std::vector<int> missing() const;
  void release();

 private:
  void announce(int unit);

  const Layout& layout_;
  std::function<void(int)> listener_;
  std::vector<int> uses_;           // per entry: contributions of one micro-batch
  std::vector<int> contributions_;  // per entry: in this step
  std::vector<int> pending_;        // per entry: uses still to come in the last micro-batch
  std::vector<int> unit_pending_;   // per unit: entries not yet complete
  std::vector<char> is_announced_;  // per unit
  bool is_last_micro_batch_ = false;
};

}  // namespace bertft
