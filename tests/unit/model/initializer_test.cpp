// First values of new parameters: their kind decides, and seed and name alone decide about the numbers.
#include "model/initializer.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>

#include <cmath>

#include "tests/support/test.h"

namespace bertft {
namespace {

struct Store {
  explicit Store(const std::vector<ParameterSpec>& specs, at::ScalarType type = at::kDouble)
      : layout(make_layout(specs, 1 << 20)),
        store(layout, at::full({layout.total}, 9.0, type), at::full({layout.total}, 0.0, type)) {}

  at::Tensor initialized(const std::string& name, double deviation, uint64_t seed) {
    const LayoutEntry& entry = layout.entries[static_cast<size_t>(layout.find(name))];
    initialize(store, entry, deviation, seed);
    return store.weights().narrow(0, entry.offset, entry.size).clone();
  }

  Layout layout;
  ParameterStore store;
};

const ParameterSpec kMatrix = {.name = "classifier.weight", .shape = {100, 200}};
const ParameterSpec kBias = {.name = "classifier.bias", .shape = {10}};
const ParameterSpec kNorm = {.name = "encoder.LayerNorm.weight", .shape = {10}};
const ParameterSpec kNormBias = {.name = "encoder.LayerNorm.bias", .shape = {10}};

TEST_CASE("Biases are zero, LayerNorm weights one, everything else normal") {
  Store s({kBias, kNorm, kNormBias, kMatrix});
  REQUIRE(s.initialized("classifier.bias", 0.02, 1).abs().max().item<double>() == 0.0);
  REQUIRE(s.initialized("encoder.LayerNorm.bias", 0.02, 1).abs().max().item<double>() == 0.0);
  REQUIRE(s.initialized("encoder.LayerNorm.weight", 0.02, 1).sub(1.0).abs().max().item<double>() == 0.0);
  REQUIRE(s.store.weights()[10].item<double>() == 9.0);  // the gap behind a bias is not touched
  const at::Tensor values = s.initialized("classifier.weight", 0.02, 1);
  REQUIRE(std::abs(values.mean().item<double>()) < 4 * 0.02 / std::sqrt(20000.0));
  REQUIRE(values.std().item<double>() == Approx(0.02).epsilon(0.02));
}

TEST_CASE("Values depend on seed and name, not on the place in the layout") {
  Store alone({kMatrix});
  Store behind({kBias, kMatrix});
  const at::Tensor base = alone.initialized("classifier.weight", 0.02, 1);
  REQUIRE(at::equal(base, behind.initialized("classifier.weight", 0.02, 1)));
  REQUIRE_FALSE(at::equal(base, alone.initialized("classifier.weight", 0.02, 2)));
  ParameterSpec other = kMatrix;
  other.name = "pooler.dense.weight";
  Store renamed({other});
  REQUIRE_FALSE(at::equal(base, renamed.initialized("pooler.dense.weight", 0.02, 1)));
  Store single({kMatrix}, at::kFloat);
  REQUIRE(at::equal(base.to(at::kFloat), single.initialized("classifier.weight", 0.02, 1)));
}

}  // namespace
}  // namespace bertft
