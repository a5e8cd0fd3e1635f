// Which ranges of the flat buffer share their settings.
#pragma once

#include <cstdint>
#include <vector>

#include "core/layout.h"

namespace bertft {

struct ParamGroup {
  int64_t begin = 0;  // elements of the flat buffer
  int64_t end = 0;
  double weight_decay = 0.0;
};

// Neighbours with equal decay are merged. The ranges cover the buffer; alignment gaps belong to the range before them
// (they hold zeros and stay zero).
std::vector<ParamGroup> param_groups(const Layout& layout, double weight_decay);

}  // namespace bertft
