#include "tests/unit/optim/golden_rules.h"

#include <ATen/ops/zeros.h>

#include "core/files.h"

namespace bertft::test {

const nlohmann::json& golden() {
  static const nlohmann::json json = nlohmann::json::parse(read_file("tests/golden/optim/optim.json"));
  return json;
}

Layout golden_layout() {
  std::vector<ParameterSpec> specs;
  for (const auto& parameter : golden()["parameters"]) {
    specs.push_back({.name = parameter["name"],
                     .shape = parameter["shape"].get<std::vector<int64_t>>(),
                     .has_weight_decay = parameter["decays"]});
  }
  return make_layout(specs, 32);
}

// A flat buffer with the given values of each parameter; gaps of the alignment are zero.
at::Tensor flat_of(const Layout& layout, const nlohmann::json& values, at::ScalarType type) {
  at::Tensor flat = at::zeros({layout.total}, at::kDouble);
  for (size_t e = 0; e < layout.entries.size(); ++e) {
    const auto numbers = values[e].get<std::vector<double>>();
    std::copy(numbers.begin(), numbers.end(), flat.mutable_data_ptr<double>() + layout.entries[e].offset);
  }
  return flat.to(type);
}

OptimizerOptions options_of(const nlohmann::json& one) {
  OptimizerOptions options;
  options.type = one.value("type", options.type);
  options.momentum = one.value("momentum", options.momentum);
  options.betas = one["betas"].get<DoublePair>();
  options.epsilon = one["eps"];
  options.weight_decay = one["weight_decay"];
  options.bias_correction = one["bias_correction"];
  return options;
}

}  // namespace bertft::test
