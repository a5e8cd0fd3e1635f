// AdamW against torch.optim.AdamW (tests/golden/optim), its two implementations against each other, and threads.
#include "optim/adamw.h"

#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "core/rng.h"
#include "optim/adamw_aten.h"
#include "optim/kernels/adamw_update.h"
#include "tests/support/test.h"
#include "tests/unit/optim/golden_rules.h"

namespace bertft {
namespace {

using test::flat_of;
using test::golden;
using test::golden_layout;
using test::options_of;

TEST_CASE("Weights after several steps equal those of torch.optim.AdamW") {
  const Layout layout = golden_layout();
  REQUIRE(golden()["cases"].size() == 16);
  for (const auto& one : golden()["cases"]) {
    INFO(one["name"] << ", " << one["dtype"]);
    const bool is_double = one["dtype"] == "float64";
    const at::ScalarType type = is_double ? at::kDouble : at::kFloat;
    const at::Tensor weights = flat_of(layout, golden()["initial"], type);
    AdamW optimizer(weights, layout, options_of(one));
    for (size_t step = 0; step < one["rates"].size(); ++step) {
      optimizer.step(weights, flat_of(layout, golden()["gradients"][step], type), one["rates"][step],
                     one["gradient_scale"]);
    }
    REQUIRE(optimizer.applied_steps() == 8);
    const at::Tensor expected = flat_of(layout, one["final"], at::kDouble);
    const at::Tensor distance = weights.to(at::kDouble).sub(expected).abs();
    REQUIRE(distance.max().item<double>() < (is_double ? 1e-14 : 1e-6));
  }
}

TEST_CASE("Without a gradient weights only decay, and gaps stay zero") {
  const Layout layout = golden_layout();
  const at::Tensor before = flat_of(layout, golden()["initial"], at::kDouble);
  const at::Tensor weights = before.clone();
  AdamW optimizer(weights, layout, {.weight_decay = 0.5});
  optimizer.step(weights, at::zeros({layout.total}, at::kDouble), 0.1, 1.0);
  for (const LayoutEntry& entry : layout.entries) {
    const double keep = entry.spec.has_weight_decay ? 1.0 - 0.1 * 0.5 : 1.0;
    REQUIRE(
        at::equal(weights.narrow(0, entry.offset, entry.size), before.narrow(0, entry.offset, entry.size).mul(keep)));
  }
  REQUIRE(weights.count_nonzero().item<int64_t>() == layout.parameter_count());
}

// A wide range of magnitudes, zeros and denormals among them.
at::Tensor random_values(int64_t count, uint64_t seed, at::ScalarType type) {
  at::Tensor values = at::zeros({count}, at::kDouble);
  auto* data = values.mutable_data_ptr<double>();
  for (int64_t i = 0; i < count; ++i) {
    data[i] =
        counter_normal(stream_key(seed), static_cast<uint64_t>(i)) * std::pow(10.0, static_cast<double>(i % 9) - 6);
    if (i % 10 == 0) data[i] = 0.0;
  }
  return values.to(type);
}

template <typename T>
struct State {
  at::Tensor weights, gradients, first, second;

  explicit State(int64_t count, at::ScalarType type)
      : weights(random_values(count, 1, type)),
        gradients(random_values(count, 2, type)),
        first(random_values(count, 3, type)),
        second(random_values(count, 4, type).abs()) {}

  void update_by_kernel(const AdamWConstants<T>& c) {
    adamw_update(weights.mutable_data_ptr<T>(), gradients.const_data_ptr<T>(), first.mutable_data_ptr<T>(),
                 second.mutable_data_ptr<T>(), weights.numel(), c);
  }
};

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return a.to(at::kDouble).sub(b.to(at::kDouble)).abs().div(b.to(at::kDouble).abs().add(1e-3)).max().item<double>();
}

template <typename T>
void compare_implementations(at::ScalarType type, double tolerance) {
  for (const int64_t count : {1, 7, 8, 15, 16, 17, 33, 1000}) {
    INFO(count << " elements");
    State<T> own(count, type);
    State<T> aten(count, type);
    for (int step = 0; step < 3; ++step) {
      own.update_by_kernel({T(0.99), T(1e-6), T(0.1), T(0.01), T(0.3), T(0.02), T(0.7), T(0.999)});
      adamw_update_with_aten(aten.weights, aten.gradients, aten.first, aten.second,
                             {0.99, 1e-6, 0.1, 0.01, 0.3, 0.02, 0.7, 0.999});
    }
    REQUIRE(largest_difference(own.weights, aten.weights) < tolerance);
    REQUIRE(largest_difference(own.first, aten.first) < tolerance);
    REQUIRE(largest_difference(own.second, aten.second) < tolerance);
  }
}

TEST_CASE("The kernel and the composition of ATen operations compute the same update") {
  compare_implementations<float>(at::kFloat, 1e-5);
  compare_implementations<double>(at::kDouble, 1e-13);
}

TEST_CASE("An update has the same bits with any number of threads") {
  const int64_t count = 3 * (1 << 15) + 77;
  const AdamWConstants<float> constants = {0.99f, 1e-6f, 0.1f, 0.01f, 0.3f, 0.02f, 0.7f, 0.999f};
  State<float> one(count, at::kFloat);
  State<float> two(count, at::kFloat);
  at::set_num_threads(1);
  one.update_by_kernel(constants);
  at::set_num_threads(3);
  two.update_by_kernel(constants);
  at::set_num_threads(1);
  REQUIRE(at::equal(one.weights, two.weights));
  REQUIRE(at::equal(one.first, two.first));
  REQUIRE(at::equal(one.second, two.second));
}

}  // namespace
}  // namespace bertft
