// Steps whose gradient is not finite: what is said of them, and the fault with which one can be made.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "comm/world.h"
#include "core/layout.h"

namespace bertft {

// What every rank's transport has found, or, when none looked, what the summed gradient [trainable_total] shows; a line
// each with parameter, flat index within it, counts, bounds of the finite part, rank and host. Collective; the same on
// all ranks.
std::vector<std::string> describe_non_finite(Communicator& communicator, const World& world, const Layout& layout,
                                             const at::Tensor& sums);

// BERTFT_FAULT=nan:... or inf:...: a value that is no number in one rank's gradient of one step.
class GradientFault {
 public:
  // The fault that is asked for, which is announced; nothing when there is none. Throws ConfigError when the parameter,
  // the index or the rank is not there.
  static std::optional<GradientFault> wanted(const Layout& layout, const World& world);

  // Whether this rank spoils this unit in this step; then writes the value into `gradients`. Of a lookup table only the
  // `used_rows` have a gradient: says so when the index lies in none of them.
  void strike(int64_t step, int unit, const at::Tensor& gradients, const std::vector<int32_t>& used_rows) const;

 private:
  int64_t step_ = 0;   // the first one
  int64_t steps_ = 1;  // in a row
  int64_t index_ = 0;  // in the flat buffer; -1 on other ranks
  int unit_ = 0;
  int64_t table_row_ = -1;  // of a lookup table
  double value_ = 0.0;
};

}  // namespace bertft
