// From rows of a data set to what the model takes.
#pragma once

#include <cstdint>
#include <span>

#include "data/dataset.h"
#include "model/forward_pass.h"

namespace bertft {

struct PassSettings {
  bool is_training = false;
  uint64_t seed = 0;
  int64_t step = 0;
};

// All sequences of the given rows, in their order. REQUIRES at least one row.
ForwardPassPtr make_pass(const Dataset& dataset, std::span<const int64_t> rows, const PassSettings& settings);

}  // namespace bertft
