// GELU and its slope over a dense grid, and column sums, against double precision.
#include <cmath>
#include <limits>

#include "tests/support/test.h"
#include "tests/unit/ops/kernels/kernel_testing.h"

namespace bertft::ops::test {
namespace {

double cumulative(double u) { return 0.5 * std::erfc(-u / std::sqrt(2.0)); }
double density(double u) { return std::exp(-0.5 * u * u) / std::sqrt(2.0 * M_PI); }

// Every value that matters: a fine grid to the tails, and magnitudes down to the smallest.
std::vector<float> grid() {
  std::vector<float> values;
  for (int i = -140000; i <= 140000; ++i) {
    values.push_back(static_cast<float>(i) * 1e-4f);
  }
  for (float x = 1e-30f; x < 1e-3f; x *= 1.37f) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}

}  // namespace

TEST_CASE("GELU is exact to a few units in the last place, in the tails too") {
  const std::vector<float> u = grid();
  const auto count = static_cast<int64_t>(u.size());
  for_each_level([&](const CpuKernels& kernels, InstructionSet level) {
    std::vector<float> x = u, y(u.size()), slope(u.size(), 1.0f);
    const std::vector<float> bias(u.size(), 0.0f);
    kernels.bias_gelu(1, count, {x.data(), count}, bias.data(), {y.data(), count});
    kernels.gelu_backward(1, count, {slope.data(), count}, {u.data(), count});
    double worst = 0.0, worst_slope = 0.0;
    for (size_t i = 0; i < u.size(); ++i) {
      const double expected = u[i] * cumulative(u[i]);
      const double tail = u[i] < -4.0f ? 4.0 : 1.0;  // without fused multiply-add the square of u loses more there
      if (std::abs(expected) > 1e-36) worst = std::max(worst, std::abs(y[i] / expected - 1.0) / tail);
      worst_slope = std::max(worst_slope, std::abs(slope[i] - cumulative(u[i]) - u[i] * density(u[i])));
    }
    CAPTURE(instruction_set_name(level));
    CHECK(worst < (level == InstructionSet::kScalar ? 1.5e-6 : 4e-7));
    CHECK(worst_slope < 2.5e-7);
    CHECK(x == u);
  });
}

TEST_CASE("GELU of infinities and not-a-number") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for_each_level([&](const CpuKernels& kernels, InstructionSet) {
    std::vector<float> x = {kInfinity, -1e30f, std::numeric_limits<float>::quiet_NaN()}, y(3);
    const std::vector<float> bias(3, 0.0f);
    kernels.bias_gelu(1, 3, {x.data(), 3}, bias.data(), {y.data(), 3});
    CHECK(y[0] == kInfinity);
    CHECK(std::abs(y[1]) < 1e-6f);
    CHECK(std::isnan(y[2]));
  });
}

TEST_CASE("column sums add to, or overwrite, their destination") {
  for (const int64_t rows : {0, 1, 31, 32, 33, 100}) {
    for (const int64_t width : {1, 7, 16, 64, 65, 203}) {
      const int64_t stride = width + 3;
      const std::vector<float> x = random_values(rows == 0 ? 0 : (rows - 1) * stride + width, 1);
      for (const float beta : {0.0f, 1.0f, 0.5f}) {
        std::vector<double> expected(static_cast<size_t>(width), beta == 0.0f ? 0.0 : 2.0 * beta);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t c = 0; c < width; ++c) {
            expected[static_cast<size_t>(c)] += x[static_cast<size_t>(i * stride + c)];
          }
        }
        for_each_level([&](const CpuKernels& kernels, InstructionSet level) {
          std::vector<float> sums(static_cast<size_t>(width), beta == 0.0f ? NAN : 2.0f);
          kernels.column_sums(rows, width, {x.data(), stride}, beta, sums.data());
          CAPTURE(instruction_set_name(level), rows, width, beta);
          CHECK(distance(sums, expected) < 1e-6);
        });
      }
    }
  }
}

}  // namespace bertft::ops::test
