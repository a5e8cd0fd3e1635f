// First values of parameters that no checkpoint supplied, as the reference draws them: matrices and tables normal with
// the configured deviation, biases 0, LayerNorm weights 1.
#pragma once

#include <cstdint>

#include "core/layout.h"
#include "model/parameter_store.h"

namespace bertft {

// Fills one parameter. The values depend on seed and name only.
void initialize(const ParameterStore& store, const LayoutEntry& entry, double deviation, uint64_t seed);

}  // namespace bertft
