// What tests/golden/optim says of update rules on four small parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "core/layout.h"
#include "optim/options.h"

namespace bertft::test {

const nlohmann::json& golden();

// The parameters in the order of the flat buffer.
Layout golden_layout();

// A flat buffer with the given values of each parameter; gaps of the alignment are zero.
at::Tensor flat_of(const Layout& layout, const nlohmann::json& values, at::ScalarType type);

OptimizerOptions options_of(const nlohmann::json& one);

}  // namespace bertft::test
