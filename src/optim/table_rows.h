// Which rows of a lookup table a step's gradient touches.
#pragma once

#include <cstdint>
#include <span>

namespace bertft {

struct TableRows {
  int entry = -1;                 // of the layout; -1: nothing is known, any element of the gradient may be non-zero
  std::span<const int32_t> rows;  // ascending, each once; outside them the table's gradient is zero
};

}  // namespace bertft
