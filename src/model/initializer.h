// First values of parameters that no checkpoint supplied, as the reference draws them: matrices and tables normal with
// the configured deviation, biases 0, LayerNorm weights 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/layout.h"
#include "model/parameter_store.h"

namespace bertft {

// Fills one parameter. The values depend on seed and name only.
void initialize(const ParameterStore& store, const LayoutEntry& entry, double deviation, uint64_t seed);

// The same values for the parameter called `name`, wherever they are wanted. The same bits on every machine.
void fill_initial(const std::string& name, double deviation, uint64_t seed, std::span<double> values);

}  // namespace bertft
