// The norm kernels and the scatter of rows against plain loops in double precision.
#include <cmath>

#include "tests/support/test.h"
#include "tests/unit/ops/kernels/kernel_testing.h"

namespace bertft::ops::test {
namespace {

struct NormCase {
  std::vector<int32_t> lengths;
  int64_t width;
  bool drops;
};

// Everything that the kernels of a residual norm read and write, and what they should write.
struct NormSetting {
  explicit NormSetting(const NormCase& shape)
      : offsets(offsets_of(shape.lengths)), rows(offsets.back()), width(shape.width) {
    for (size_t s = 0; s < shape.lengths.size(); ++s) {
      keys.push_back(s * 7919 + 13);
    }
    dropout = stream_of(keys, shape.drops);
    const int64_t size = rows * width;
    x = random_values(size, 1), residual = random_values(size, 2), dy = random_values(size, 3);
    bias = random_values(width, 4), weight = random_values(width, 5), shift = random_values(width, 6);
    expect();
  }

  // Row-major index.
  size_t at(int64_t row, int64_t c) const { return static_cast<size_t>(row * width + c); }

  int64_t sequence_of(int64_t row) const {
    int64_t s = 0;
    while (row >= offsets[static_cast<size_t>(s) + 1]) ++s;
    return s;
  }

  double factor(int64_t row, int64_t c) const {
    const int64_t s = sequence_of(row);
    return factor_of(dropout, s, (row - offsets[static_cast<size_t>(s)]) * width + c);
  }

  void expect() {
    const auto size = static_cast<size_t>(rows * width), columns = static_cast<size_t>(width);
    output.resize(size), sum.resize(size), d_sum.resize(size), d_x.resize(size);
    d_weight.assign(columns, 0.0), d_shift.assign(columns, 0.0), d_bias.assign(columns, 0.0);
    const auto n = static_cast<double>(width);
    for (int64_t row = 0; row < rows; ++row) {
      double mean = 0.0, variance = 0.0, mean_gradient = 0.0, mean_along = 0.0;
      for (int64_t c = 0; c < width; ++c) {
        const auto column = static_cast<size_t>(c);
        sum[at(row, c)] = residual[at(row, c)] + factor(row, c) * (static_cast<double>(x[at(row, c)]) + bias[column]);
        mean += sum[at(row, c)] / n;
      }
      for (int64_t c = 0; c < width; ++c) {
        variance += (sum[at(row, c)] - mean) * (sum[at(row, c)] - mean) / n;
      }
      const double rstd = 1.0 / std::sqrt(variance + kEpsilon);
      const auto normalized = [&](int64_t c) { return (sum[at(row, c)] - mean) * rstd; };
      for (int64_t c = 0; c < width; ++c) {
        const auto column = static_cast<size_t>(c);
        const double gradient = dy[at(row, c)];
        output[at(row, c)] = normalized(c) * weight[column] + shift[column];
        d_weight[column] += gradient * normalized(c);
        d_shift[column] += gradient;
        mean_gradient += gradient * weight[column] / n;
        mean_along += gradient * weight[column] * normalized(c) / n;
      }
      for (int64_t c = 0; c < width; ++c) {
        const auto column = static_cast<size_t>(c);
        d_sum[at(row, c)] =
            (static_cast<double>(dy[at(row, c)]) * weight[column] - mean_gradient - normalized(c) * mean_along) * rstd;
        d_x[at(row, c)] = d_sum[at(row, c)] * factor(row, c);
        d_bias[column] += d_x[at(row, c)];
      }
    }
  }

  static constexpr double kEpsilon = 1e-3;
  std::vector<int32_t> offsets;
  int64_t rows, width;
  std::vector<uint64_t> keys;
  DropoutStream dropout;
  std::vector<float> x, residual, dy, bias, weight, shift;
  std::vector<double> output, sum, d_sum, d_x, d_weight, d_shift, d_bias;
};

std::vector<NormCase> norm_cases() {
  std::vector<NormCase> cases;
  for (const bool drops : {false, true}) {
    for (const int64_t width : {5, 8, 20, 33, 384}) {
      cases.push_back({{1}, width, drops});
      cases.push_back({{3, 1, 29, 40}, width, drops});
    }
  }
  return cases;
}

void check_norm(const NormSetting& s, const CpuKernels& kernels) {
  const auto rows = static_cast<size_t>(s.rows), columns = static_cast<size_t>(s.width);
  std::vector<float> sum = s.x, output(s.x.size()), mean(rows), rstd(rows);
  ResidualNormForward forward{};
  forward.norm = {s.rows,
                  s.width,
                  s.weight.data(),
                  s.shift.data(),
                  NormSetting::kEpsilon,
                  {s.offsets.data(), static_cast<int64_t>(s.offsets.size()) - 1},
                  s.dropout,
                  {sum.data(), s.width},
                  {output.data(), s.width},
                  mean.data(),
                  rstd.data()};
  forward.x = {sum.data(), s.width};
  forward.residual = {s.residual.data(), s.width};
  forward.bias = s.bias.data();
  kernels.residual_norm(forward);
  CHECK(distance(sum, s.sum) < 1e-6);
  CHECK(distance(output, s.output) < 1e-6);

  std::vector<float> scratch(static_cast<size_t>(norm_scratch_floats(s.rows, s.width)), NAN);
  std::vector<float> d_sum(sum.size()), d_x(sum.size()), d_weight(columns), d_shift(columns), d_bias(columns);
  ResidualNormBackward backward{};
  backward.norm = {s.rows,
                   s.width,
                   {s.dy.data(), s.width},
                   {sum.data(), s.width},
                   mean.data(),
                   rstd.data(),
                   s.weight.data(),
                   {s.offsets.data(), static_cast<int64_t>(s.offsets.size()) - 1},
                   s.dropout,
                   scratch.data(),
                   d_weight.data(),
                   d_shift.data(),
                   0.0f,
                   {d_sum.data(), s.width}};
  backward.x_gradient = {d_x.data(), s.width};
  backward.added_bias_gradient = d_bias.data();
  kernels.residual_norm_backward(backward);
  CHECK(distance(d_sum, s.d_sum) < 3e-6);
  CHECK(distance(d_x, s.d_x) < 3e-6);
  CHECK(distance(d_weight, s.d_weight) < 2e-6);
  CHECK(distance(d_shift, s.d_shift) < 2e-6);
  CHECK(distance(d_bias, s.d_bias) < 3e-6);
}

}  // namespace

TEST_CASE("residual norm kernels agree with plain loops") {
  for (const NormCase& shape : norm_cases()) {
    const NormSetting setting(shape);
    for_each_level([&](const CpuKernels& kernels, InstructionSet level) {
      CAPTURE(instruction_set_name(level), setting.rows, setting.width, shape.drops);
      check_norm(setting, kernels);
    });
  }
}

TEST_CASE("rows are scattered in the order of the tokens") {
  for (const int64_t width : {1, 20, 64, 130}) {
    const std::vector<int32_t> ids = {2, 0, 2, 2, 1, 0};
    const auto rows = static_cast<int64_t>(ids.size());
    const std::vector<float> gradient = random_values(rows * width, 1);
    std::vector<float> expected = random_values(3 * width, 2);
    const std::vector<float> start = expected;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t c = 0; c < width; ++c) {
        expected[static_cast<size_t>(ids[static_cast<size_t>(row)] * width + c)] +=
            gradient[static_cast<size_t>(row * width + c)];
      }
    }
    for_each_level([&](const CpuKernels& kernels, InstructionSet level) {
      std::vector<float> table = start;
      kernels.scatter_rows({{gradient.data(), width}, rows, width, ids.data(), {table.data(), width}});
      CAPTURE(instruction_set_name(level), width);
      CHECK(table == expected);
    });
  }
}

}  // namespace bertft::ops::test
