// The global norm: its value, the fixed order of its sums, and the name of the first parameter that is not finite.
#include "optim/flat_norm.h"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/rng.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Layout layout_of_sizes(const std::vector<int64_t>& sizes, bool first_is_table = false) {
  std::vector<ParameterSpec> specs;
  for (const int64_t size : sizes) specs.push_back({.name = std::to_string(specs.size()), .shape = {size}});
  if (first_is_table) specs[0] = {.name = "table", .shape = {sizes[0] / 24, 24}, .is_lookup_table = true};
  return make_layout(specs, 1 << 20);
}

// Every element of every parameter; gaps keep `in_gaps`.
at::Tensor random_gradients(const Layout& layout, at::ScalarType type, double in_gaps = 0.0) {
  at::Tensor flat = at::full({layout.total}, in_gaps, at::kDouble);
  for (const LayoutEntry& entry : layout.entries) {
    auto* values = flat.mutable_data_ptr<double>() + entry.offset;
    for (int64_t i = 0; i < entry.size; ++i) {
      values[i] = static_cast<float>(counter_normal(stream_key(9), static_cast<uint64_t>(entry.offset + i)));
    }
  }
  return flat.to(type);
}

double norm_in_long_double(const at::Tensor& flat, const Layout& layout) {
  const at::Tensor values = flat.to(at::kDouble);
  long double sum = 0.0L;
  for (const LayoutEntry& entry : layout.entries) {
    const double* data = values.const_data_ptr<double>() + entry.offset;
    for (int64_t i = 0; i < entry.size; ++i) sum += static_cast<long double>(data[i]) * data[i];
  }
  return static_cast<double>(std::sqrt(sum));
}

TEST_CASE("The norm is that of all parameters, whatever lies in the gaps") {
  const Layout small = layout_of_sizes({2});
  at::Tensor flat = at::zeros({small.total}, at::kFloat);
  flat.mutable_data_ptr<float>()[0] = 3.0f;
  flat.mutable_data_ptr<float>()[1] = -4.0f;
  flat.mutable_data_ptr<float>()[2] = 99.0f;
  REQUIRE(gradient_norm(flat, small).norm == 5.0);
  const Layout layout =
      layout_of_sizes({24 * 100, 1, 15, 16, 17, kNormBlockElements, 3 * kNormBlockElements + 5}, true);
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor gradients = random_gradients(layout, type, kNan);
    const GradientNorm result = gradient_norm(gradients, layout);
    REQUIRE(result.first_non_finite == -1);
    REQUIRE(result.norm == Approx(norm_in_long_double(gradients, layout)).epsilon(1e-13));
  }
}

TEST_CASE("Squares that overflow single precision are finite") {
  const Layout layout = layout_of_sizes({4});
  const GradientNorm result = gradient_norm(at::full({layout.total}, 1e30, at::kFloat), layout);
  REQUIRE(result.first_non_finite == -1);
  REQUIRE(result.norm == Approx(2e30).epsilon(1e-6));
}

TEST_CASE("The norm has the same bits with any number of threads") {
  const Layout layout = layout_of_sizes({24 * 2000, 100000, 7, 5000}, true);
  const at::Tensor gradients = random_gradients(layout, at::kFloat);
  at::set_num_threads(1);
  const double one = gradient_norm(gradients, layout).norm;
  for (const int threads : {2, 3, 4}) {
    at::set_num_threads(threads);
    REQUIRE(gradient_norm(gradients, layout).norm == one);
  }
  at::set_num_threads(1);
}

TEST_CASE("Blocks restart at each parameter: where one lies in the buffer changes no bit of its sum") {
  const int64_t size = 2 * kNormBlockElements + 100;
  const Layout alone = layout_of_sizes({size});
  const Layout behind = layout_of_sizes({1000, size});
  const at::Tensor values = random_gradients(alone, at::kFloat);
  at::Tensor moved = at::zeros({behind.total}, at::kFloat);
  moved.narrow(0, behind.entries[1].offset, size).copy_(values.narrow(0, 0, size));
  REQUIRE(gradient_norm(moved, behind).norm == gradient_norm(values, alone).norm);
}

TEST_CASE("The first parameter in layout order with a NaN or infinity is named") {
  const Layout layout = layout_of_sizes({20, 3 * kNormBlockElements, 5});
  struct Case {
    std::vector<std::pair<size_t, int64_t>> places;  // parameter, element
    double value;
    int named;
  };
  const std::vector<Case> cases = {
      {{{0, 19}}, kNan, 0}, {{{1, 0}}, kInf, 1},          {{{1, 3 * kNormBlockElements - 1}}, -kInf, 1},
      {{{2, 4}}, kNan, 2},  {{{2, 0}, {1, 77}}, kNan, 1},
  };
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (const Case& c : cases) {
      at::Tensor gradients = random_gradients(layout, at::kDouble);
      for (const auto& [entry, element] : c.places) {
        gradients.mutable_data_ptr<double>()[layout.entries[entry].offset + element] = c.value;
      }
      const GradientNorm result = gradient_norm(gradients.to(type), layout);
      REQUIRE(result.first_non_finite == c.named);
      REQUIRE_FALSE(std::isfinite(result.norm));
    }
  }
}

TEST_CASE("A buffer that does not fit its layout is an internal error") {
  const Layout layout = layout_of_sizes({20});
  test::error_text<InternalError>([&] { gradient_norm(at::zeros({20}, at::kFloat), layout); });
  test::error_text<InternalError>([&] { gradient_norm(at::zeros({layout.total}, at::kLong), layout); });
}

TEST_CASE("The clip factor is that of torch.nn.utils.clip_grad_norm_") {
  REQUIRE(clip_factor(0.5, 1.0) == 1.0);
  REQUIRE(clip_factor(0.0, 1.0) == 1.0);
  REQUIRE(clip_factor(1.0, 1.0) == 1.0 / (1.0 + 1e-6));
  REQUIRE(clip_factor(4.0, 1.0) == 1.0 / (4.0 + 1e-6));
  REQUIRE(clip_factor(4.0, 2.5) == 2.5 / (4.0 + 1e-6));
  REQUIRE(clip_factor(1e300, 1.0) == 1.0 / 1e300);
  REQUIRE(clip_factor(4.0, 0.0) == 1.0);  // no clipping
}

}  // namespace
}  // namespace bertft
