// Our own kernels at every instruction set of this machine against ATen operations in double precision.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "ops/attention.h"
#include "ops/embedding.h"
#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/matrix_product.h"
#include "ops/residual_norm.h"
#include "tests/unit/ops/op_testing.h"
//
#include "tests/support/test.h"

namespace bertft::ops::test {
namespace {

constexpr double kTolerance = 1e-6;  // of single against double precision

struct AttentionCase {
  std::vector<int32_t> lengths;
  int64_t heads, head_dim;
};

const std::vector<AttentionCase>& attention_cases() {
  static const std::vector<AttentionCase> cases = {
      {{1}, 1, 8},          {{1, 1, 1}, 2, 32},   {{13, 5, 21, 16}, 12, 32}, {{3, 17, 33, 32, 31}, 3, 20},
      {{40, 7, 64}, 2, 64}, {{65, 1, 15}, 2, 24}, {{512, 2}, 2, 32},         {{12, 9}, 1, 80}};
  return cases;
}

// Query, key and value as slices of one [T, 3 H] matrix, as a fused projection leaves them.
AttentionInput sliced_input(const Sequences& sequences, int64_t width, Queries queries, uint64_t seed) {
  const at::Tensor joint = random_tensor({sequences.rows(), 3 * width}, seed);
  AttentionInput input{joint.slice(1, 0, width), joint.slice(1, width, 2 * width), joint.slice(1, 2 * width)};
  if (queries == Queries::kFirst) input.query = random_tensor({sequences.count(), width}, seed + 1);
  return input;
}

AttentionInput to_double(const AttentionInput& input) {
  return {as_double(input.query), as_double(input.key), as_double(input.value)};
}

struct AttentionOutcome {
  AttentionInput input, gradients;
  AttentionResult result;
};

AttentionOutcome run_attention(AttentionInput input, const AttentionBias& bias, const at::Tensor& upstream,
                               const AttentionSettings& settings) {
  const AttentionResult result = attention(input, bias, settings);
  const at::Tensor joint = at::empty({input.key.size(0), 3 * input.key.size(1)}, input.key.options());
  const int64_t width = input.key.size(1);
  AttentionInput gradients{joint.slice(1, 0, width), joint.slice(1, width, 2 * width), joint.slice(1, 2 * width)};
  if (settings.queries == Queries::kFirst) gradients.query = at::empty_like(input.query);
  attention_backward(upstream, input, result, settings, gradients);
  return {input, gradients, result};
}

void check_attention(const AttentionCase& shape, Queries queries, double probability) {
  const Sequences sequences = sequences_of(shape.lengths);
  const Dropout dropout = dropout_of(probability, sequences, 3);
  const int64_t width = shape.heads * shape.head_dim;
  const AttentionSettings settings{sequences, dropout, shape.heads, queries};
  const int64_t query_rows = queries == Queries::kAll ? sequences.rows() : sequences.count();
  const AttentionBias bias{random_tensor({width}, 4), random_tensor({width}, 5), random_tensor({width}, 6)};
  const AttentionBias bias_double{as_double(bias.query), as_double(bias.key), as_double(bias.value)};
  const at::Tensor upstream = random_tensor({query_rows, width}, 7);
  const AttentionOutcome expected =
      run_attention(to_double(sliced_input(sequences, width, queries, 8)), bias_double, as_double(upstream), settings);
  for_each_kernel_level([&](InstructionSet level) {
    const AttentionOutcome own = run_attention(sliced_input(sequences, width, queries, 8), bias, upstream, settings);
    CAPTURE(instruction_set_name(level), probability, shape.lengths, shape.head_dim, query_rows);
    CHECK(difference(own.input.key, expected.input.key) < kTolerance);
    CHECK(difference(own.result.context, expected.result.context) < kTolerance);
    CHECK(difference(own.result.log_sums, expected.result.log_sums) < kTolerance);
    // Scores are recomputed from the logarithms of their sums, which costs a few bits; and where every sequence has one
    // token, these gradients are 0 but for rounding.
    const auto is_close = [&](const at::Tensor& a, const at::Tensor& b) {
      return sequences.max_length == 1 ? inner_product(a, a) < 1e-10 : difference(a, b) < 5 * kTolerance;
    };
    CHECK(is_close(own.gradients.query, expected.gradients.query));
    CHECK(is_close(own.gradients.key, expected.gradients.key));
    CHECK(difference(own.gradients.value, expected.gradients.value) < kTolerance);
  });
}

}  // namespace

TEST_CASE("attention kernels agree with ATen") {
  for (const AttentionCase& shape : attention_cases()) {
    for (const Queries queries : {Queries::kAll, Queries::kFirst}) {
      for (const double probability : {0.0, 0.1}) {
        check_attention(shape, queries, probability);
      }
    }
  }
}

TEST_CASE("bias and GELU kernels agree with ATen") {
  for (const auto& [rows, width] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {3, 20}, {33, 64}, {7, 1537}}) {
    const at::Tensor x = random_tensor({rows, width}, 40).mul(3.0), bias = random_tensor({width}, 41);
    const at::Tensor upstream = random_tensor({rows, width}, 42);
    at::Tensor u_expected = as_double(x), dy_expected = as_double(upstream);
    const at::Tensor y_expected = bias_gelu(u_expected, as_double(bias));
    bias_gelu_backward(dy_expected, u_expected);
    for_each_kernel_level([&](InstructionSet level) {
      at::Tensor u = x.clone(), dy = upstream.clone();
      const at::Tensor y = bias_gelu(u, bias);
      bias_gelu_backward(dy, u);
      CAPTURE(instruction_set_name(level), rows, width);
      CHECK(difference(u, u_expected) < kTolerance);
      CHECK(difference(y, y_expected) < kTolerance);
      CHECK(difference(dy, dy_expected) < kTolerance);
    });
  }
}

TEST_CASE("GELU and its gradient stay within a few roundings of ATen's on a dense grid") {
  const at::Tensor u = at::linspace(-12.0, 12.0, 200001, at::kFloat).view({1, -1});
  const at::Tensor expected = at::gelu(u), slope_expected = at::gelu_backward(at::ones_like(u), u);
  for_each_kernel_level([&](InstructionSet level) {
    at::Tensor copy = u.clone(), slope = at::ones_like(u);
    const at::Tensor y = bias_gelu(copy, at::zeros({u.size(1)}));
    bias_gelu_backward(slope, u);
    CAPTURE(instruction_set_name(level));
    CHECK((y - expected).abs().div(u.abs().clamp_min(1.0)).max().item<float>() < 4e-7f);
    CHECK((slope - slope_expected).abs().max().item<float>() < 4e-7f);
  });
}

TEST_CASE("residual norm kernels agree with ATen") {
  const std::vector<std::pair<std::vector<int32_t>, int64_t>> cases = {
      {{1}, 1}, {{1}, 8}, {{5, 1, 30}, 20}, {{13, 60, 2, 33}, 384}, {{3, 2}, 771}};
  for (const auto& [lengths, width] : cases) {
    const Sequences sequences = sequences_of(lengths);
    const int64_t rows = sequences.rows();
    const at::Tensor x = random_tensor({rows, width}, 50), residual = random_tensor({rows, width}, 51);
    const at::Tensor bias = random_tensor({width}, 52), upstream = random_tensor({rows, width}, 53);
    const NormParameters norm{random_tensor({width}, 54), random_tensor({width}, 55), 1e-5};
    const NormParameters norm_double{as_double(norm.weight), as_double(norm.bias), norm.epsilon};
    for (const double probability : {0.0, 0.1}) {
      const Dropout dropout = dropout_of(probability, sequences, 56);
      for (const double beta : {0.0, 1.0}) {
        const auto run = [&](const at::Tensor& x_in, const at::Tensor& bias_in, const at::Tensor& residual_in,
                             const NormParameters& norm_in, const at::Tensor& upstream_in) {
          at::Tensor consumed = x_in.clone();
          ResidualNormResult result =
              bias_dropout_residual_norm(consumed, bias_in, residual_in, norm_in, sequences, dropout);
          const at::Tensor start = random_tensor({width}, 57).to(x_in.scalar_type());
          ResidualNormGradients gradients{at::empty_like(x_in), at::empty_like(x_in), start.clone(),
                                          start.clone(),        start.clone(),        beta};
          bias_dropout_residual_norm_backward(upstream_in, result, norm_in, sequences, dropout, gradients);
          return std::pair(result, gradients);
        };
        const auto [expected, expected_gradients] =
            run(as_double(x), as_double(bias), as_double(residual), norm_double, as_double(upstream));
        for_each_kernel_level(
            [&, &expected = expected, &expected_gradients = expected_gradients](InstructionSet level) {
              const auto [own, gradients] = run(x, bias, residual, norm, upstream);
              CAPTURE(instruction_set_name(level), rows, width, probability, beta);
              CHECK(difference(own.output, expected.output) < kTolerance);
              CHECK(difference(own.sum, expected.sum) < kTolerance);
              CHECK(difference(own.mean, expected.mean) < 10 * kTolerance);
              CHECK(difference(own.rstd, expected.rstd) < kTolerance);
              if (width == 1) return;  // every gradient in front of the norm is 0
              CHECK(difference(gradients.x, expected_gradients.x) < 2 * kTolerance);
              CHECK(difference(gradients.residual, expected_gradients.residual) < 2 * kTolerance);
              CHECK(difference(gradients.bias, expected_gradients.bias) < 2 * kTolerance);
              CHECK(difference(gradients.norm_weight, expected_gradients.norm_weight) < 2 * kTolerance);
              CHECK(difference(gradients.norm_bias, expected_gradients.norm_bias) < 2 * kTolerance);
            });
      }
    }
  }
}

TEST_CASE("embedding kernels agree with ATen, and only touched rows are cleared and filled") {
  const std::vector<std::pair<std::vector<int32_t>, int64_t>> cases = {{{1}, 8}, {{5, 1, 30}, 20}, {{13, 60}, 384}};
  for (const auto& [lengths, width] : cases) {
    const Sequences sequences = sequences_of(lengths);
    TokenIds tokens;
    for (const int32_t length : lengths) {
      for (int32_t i = 0; i < length; ++i) {
        tokens.word.push_back((length * 7 + i * i) % 90);
        tokens.position.push_back(i);
        tokens.token_type.push_back(i % 2);
      }
    }
    const EmbeddingTables tables{random_tensor({100, width}, 60), random_tensor({64, width}, 61),
                                 random_tensor({2, width}, 62)};
    const EmbeddingTables tables_double{as_double(tables.word), as_double(tables.position),
                                        as_double(tables.token_type)};
    const NormParameters norm{random_tensor({width}, 63), random_tensor({width}, 64), 1e-12};
    const NormParameters norm_double{as_double(norm.weight), as_double(norm.bias), norm.epsilon};
    const at::Tensor upstream = random_tensor({sequences.rows(), width}, 65);
    for (const double probability : {0.0, 0.1}) {
      const Dropout dropout = dropout_of(probability, sequences, 66);
      for (const double beta : {0.0, 1.0}) {
        const auto run = [&](const EmbeddingTables& tables_in, const NormParameters& norm_in,
                             const at::Tensor& upstream_in, TouchedRows& touched) {
          const EmbeddingResult result = embedding_norm_dropout(tokens, tables_in, norm_in, sequences, dropout);
          const auto start = [&](const at::Tensor& like) {
            return random_tensor(like.sizes(), 67).to(like.scalar_type());
          };
          EmbeddingGradients gradients{at::zeros_like(tables_in.word),
                                       start(tables_in.position),
                                       start(tables_in.token_type),
                                       &touched,
                                       start(norm_in.weight),
                                       start(norm_in.bias),
                                       beta};
          gradients.word.select(0, 95).fill_(1.5);
          touched.rows = {95};
          embedding_norm_dropout_backward(upstream_in, tokens, result, norm_in, sequences, dropout, gradients);
          return std::pair(result, gradients);
        };
        TouchedRows touched_expected;
        const auto [expected, expected_gradients] =
            run(tables_double, norm_double, as_double(upstream), touched_expected);
        for_each_kernel_level(
            [&, &expected = expected, &expected_gradients = expected_gradients](InstructionSet level) {
              TouchedRows touched;
              const auto [own, gradients] = run(tables, norm, upstream, touched);
              CAPTURE(instruction_set_name(level), width, probability, beta);
              CHECK(touched.rows == touched_expected.rows);
              CHECK(std::count(touched.rows.begin(), touched.rows.end(), 95) == (beta == 0.0 ? 0 : 1));
              CHECK(difference(own.output, expected.output) < kTolerance);
              CHECK(difference(own.sum, expected.sum) < kTolerance);
              CHECK(difference(gradients.word, expected_gradients.word) < 2 * kTolerance);
              CHECK(difference(gradients.position, expected_gradients.position) < 2 * kTolerance);
              CHECK(difference(gradients.token_type, expected_gradients.token_type) < 2 * kTolerance);
              CHECK(difference(gradients.norm_weight, expected_gradients.norm_weight) < 2 * kTolerance);
              CHECK(difference(gradients.norm_bias, expected_gradients.norm_bias) < 2 * kTolerance);
              CHECK(gradients.word.select(0, 95).sum().item<float>() ==
                    Approx(beta == 0.0 ? 0.0 : 1.5 * static_cast<double>(width)));
            });
      }
    }
  }
}

TEST_CASE("linear layers agree with ATen, with strided rows and beta") {
  for (const auto& [rows, inputs, outputs] : std::vector<std::tuple<int64_t, int64_t, int64_t>>{
           {1, 1, 1}, {5, 20, 7}, {33, 64, 48}, {100, 600, 70}, {0, 8, 4}}) {
    const at::Tensor x = random_tensor({rows, 3 * inputs}, 70).slice(1, inputs, 2 * inputs);
    const at::Tensor dy = random_tensor({rows, 2 * outputs}, 71).slice(1, outputs, 2 * outputs);
    const at::Tensor w = random_tensor({outputs, inputs}, 72);
    for (const double beta : {0.0, 1.0}) {
      const auto run = [&](const at::Tensor& x_in, const at::Tensor& w_in, const at::Tensor& dy_in) {
        const auto start = [&](const at::Tensor& like) {
          return random_tensor(like.sizes(), 73).to(like.scalar_type());
        };
        const at::Tensor y = bertft::ops::linear(x_in, w_in);
        at::Tensor dx = start(x_in), dw = start(w_in), db = random_tensor({outputs}, 74).to(x_in.scalar_type());
        linear_backward_input(dy_in, w_in, dx, beta);
        linear_backward_weight(dy_in, x_in, dw, beta);
        bias_backward(dy_in, db, beta);
        return std::vector<at::Tensor>{y, dx, dw, db};
      };
      const auto expected = run(as_double(x), as_double(w), as_double(dy));
      const ProductLibrary usual = product_library();
      for_each_kernel_level([&, rows = rows](InstructionSet level) {
        for (const ProductLibrary library : {ProductLibrary::kBlas, ProductLibrary::kOwn}) {
          set_product_library(library);
          const auto own = run(x, w, dy);
          for (size_t i = 0; i < own.size(); ++i) {
            CAPTURE(instruction_set_name(level), product_library_name(library), rows, beta, i);
            CHECK(difference(own[i], expected[i]) < kTolerance);
          }
        }
      });
      set_product_library(usual);
    }
  }
}

}  // namespace bertft::ops::test
