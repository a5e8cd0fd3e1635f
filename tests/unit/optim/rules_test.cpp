// Adam, SGD and LAMB against torch and a rendering of LAMB (tests/golden/optim), their state, and threads.
#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "core/rng.h"
#include "optim/lamb_update.h"
#include "optim/optimizer.h"
#include "tests/support/test.h"
#include "tests/unit/optim/golden_rules.h"

namespace bertft {
namespace {

using test::flat_of;
using test::golden;
using test::golden_layout;
using test::options_of;

TEST_CASE("Weights after several steps equal those of torch's Adam and SGD and of LAMB") {
  const Layout layout = golden_layout();
  REQUIRE(golden()["rules"].size() == 14);
  for (const auto& one : golden()["rules"]) {
    INFO(one.dump().substr(0, 300));
    const bool is_double = one["dtype"] == "float64";
    const at::ScalarType type = is_double ? at::kDouble : at::kFloat;
    const at::Tensor weights = flat_of(layout, golden()["initial"], type);
    const auto optimizer = make_optimizer(options_of(one), weights, layout);
    for (size_t step = 0; step < one["rates"].size(); ++step) {
      optimizer->step(weights, flat_of(layout, golden()["gradients"][step], type), one["rates"][step],
                      one["gradient_scale"]);
    }
    REQUIRE(optimizer->applied_steps() == 8);
    const at::Tensor distance = weights.to(at::kDouble).sub(flat_of(layout, one["final"], at::kDouble)).abs();
    REQUIRE(distance.max().item<double>() < (is_double ? 1e-13 : 2e-6));
  }
}

Layout large_layout(bool table_is_frozen = false) {
  std::vector<ParameterSpec> specs = {{.name = "weight", .shape = {300, 301}, .depth = 0},
                                      {.name = "bias", .shape = {77}, .has_weight_decay = false, .depth = 1},
                                      {.name = "table", .shape = {500, 24}, .is_lookup_table = true, .depth = 2}};
  specs.back().is_trainable = !table_is_frozen;
  return make_layout(specs, 1 << 14);
}

at::Tensor random_values(const Layout& layout, uint64_t seed, at::ScalarType type) {
  at::Tensor values = at::zeros({layout.total}, at::kDouble);
  for (const LayoutEntry& entry : layout.entries) {
    for (int64_t i = entry.offset; i < entry.offset + entry.size; ++i) {
      values.mutable_data_ptr<double>()[i] = counter_normal(stream_key(seed), static_cast<uint64_t>(i));
    }
  }
  return values.to(type);
}

at::Tensor trained(const OptimizerOptions& options, const Layout& layout, int steps, at::ScalarType type) {
  at::Tensor weights = random_values(layout, 1, type);
  const at::Tensor like = weights.narrow(0, 0, layout.trainable_total);
  const auto optimizer = make_optimizer(options, like, layout);
  for (int step = 0; step < steps; ++step) {
    const at::Tensor gradients = random_values(layout, 10 + static_cast<uint64_t>(step), type);
    optimizer->step(weights, gradients.narrow(0, 0, layout.trainable_total), 0.01, 0.7);
  }
  return weights;
}

std::vector<OptimizerOptions> all_rules() {
  return {{.type = "adamw", .weight_decay = 0.1, .layer_decay = 0.5},
          {.type = "adam", .weight_decay = 0.1, .layer_decay = 0.5},
          {.type = "sgd", .momentum = 0.9, .weight_decay = 0.1, .layer_decay = 0.5},
          {.type = "sgd"},
          {.type = "lamb", .weight_decay = 0.1, .layer_decay = 0.5}};
}

TEST_CASE("Every rule gives the same bits with any number of threads") {
  const Layout layout = large_layout();
  for (const OptimizerOptions& options : all_rules()) {
    INFO(options.type);
    at::set_num_threads(1);
    const at::Tensor one = trained(options, layout, 3, at::kFloat);
    at::set_num_threads(3);
    const at::Tensor three = trained(options, layout, 3, at::kFloat);
    at::set_num_threads(1);
    REQUIRE(at::equal(one, three));
  }
}

TEST_CASE("A restored state goes on bit for bit") {
  const Layout layout = large_layout();
  for (const OptimizerOptions& options : all_rules()) {
    INFO(options.type);
    const auto gradients = [&](int step) {
      return random_values(layout, 10 + static_cast<uint64_t>(step), at::kFloat);
    };
    at::Tensor weights = random_values(layout, 1, at::kFloat);
    const auto whole = make_optimizer(options, weights, layout);
    for (int step = 0; step < 3; ++step) whole->step(weights, gradients(step), 0.01, 1.0);
    at::Tensor copy = weights.clone();
    const auto resumed = make_optimizer(options, weights, layout);
    const std::vector<NamedState> from = whole->state();
    std::vector<NamedState> to = resumed->state();
    REQUIRE(from.size() == to.size());
    for (size_t i = 0; i < from.size(); ++i) {
      REQUIRE(from[i].name == to[i].name);
      to[i].tensor.copy_(from[i].tensor);
    }
    resumed->set_applied_steps(whole->applied_steps());
    for (int step = 3; step < 6; ++step) {
      whole->step(weights, gradients(step), 0.01, 1.0);
      resumed->step(copy, gradients(step), 0.01, 1.0);
    }
    REQUIRE(at::equal(weights, copy));
  }
}

TEST_CASE("Frozen parameters keep their bits, and the others move as if nothing were frozen") {
  const Layout frozen = large_layout(true);
  const Layout free = large_layout();
  const int64_t border = frozen.trainable_total;
  for (const OptimizerOptions& options : all_rules()) {
    INFO(options.type);
    const at::Tensor weights = trained(options, frozen, 3, at::kFloat);
    const at::Tensor start = random_values(frozen, 1, at::kFloat);
    REQUIRE(at::equal(weights.slice(0, border), start.slice(0, border)));
    REQUIRE(at::equal(weights.slice(0, 0, border), trained(options, free, 3, at::kFloat).slice(0, 0, border)));
  }
}

TEST_CASE("Layer decay is a smaller rate for the lower layers") {
  const Layout layout = large_layout();
  const OptimizerOptions plain = {.type = "sgd", .weight_decay = 0.0};
  const OptimizerOptions decayed = {.type = "sgd", .weight_decay = 0.0, .layer_decay = 0.5};
  const at::Tensor start = random_values(layout, 1, at::kDouble);
  const at::Tensor whole = trained(plain, layout, 1, at::kDouble).sub(start);
  const at::Tensor scaled = trained(decayed, layout, 1, at::kDouble).sub(start);
  for (const LayoutEntry& entry : layout.entries) {
    const double scale = std::pow(0.5, entry.spec.depth);
    const at::Tensor expected = whole.narrow(0, entry.offset, entry.size).mul(scale);
    REQUIRE(scaled.narrow(0, entry.offset, entry.size).sub(expected).abs().max().item<double>() < 1e-15);
  }
}

TEST_CASE("LAMB's kernel and its composition of ATen operations compute the same update") {
  const Layout layout = large_layout();
  const LambConstants<double> c = {0.99, 1e-6, 0.1, 0.01, 0.3, 0.05, 0.2, 0.3};
  const std::vector<LambParameter> parameters = {{c, 0.1, true}, {c, 0.2, false}, {c, 0.3, true}};
  const auto buffers = [&] {
    return LambBuffers{random_values(layout, 1, at::kDouble), random_values(layout, 2, at::kDouble),
                       random_values(layout, 3, at::kDouble), random_values(layout, 4, at::kDouble).abs()};
  };
  const LambBuffers own = buffers();
  const LambBuffers aten = buffers();
  for (int step = 0; step < 3; ++step) {
    lamb_update(own, lamb_blocks(layout), parameters);
    lamb_update_with_aten(aten, layout, parameters);
  }
  REQUIRE(own.weights.sub(aten.weights).abs().max().item<double>() < 1e-12);
  REQUIRE(own.second_moment.sub(aten.second_moment).abs().max().item<double>() < 1e-13);
}

TEST_CASE("A parameter of zeros has trust ratio 1, and one without a gradient only decays") {
  const Layout layout = make_layout({{.name = "weight", .shape = {64}}}, 1 << 14);
  at::Tensor weights = at::zeros({layout.total}, at::kDouble);
  const OptimizerOptions options = {.type = "lamb", .weight_decay = 0.0};
  make_optimizer(options, weights, layout)->step(weights, at::zeros({layout.total}, at::kDouble).fill_(2.0), 0.01, 1.0);
  REQUIRE(weights.add(0.01).abs().max().item<double>() < 1e-9);  // Adam's first step
  const at::Tensor before = weights.clone();
  make_optimizer(options, weights, layout)->step(weights, at::zeros({layout.total}, at::kDouble), 0.01, 1.0);
  REQUIRE(at::equal(weights, before));
}

}  // namespace
}  // namespace bertft
