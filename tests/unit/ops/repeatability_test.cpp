// The same bits from run to run, and for our own kernels with one thread and with two.
#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include <limits>

#include "ops/attention.h"
#include "ops/cpu_environment.h"
#include "ops/embedding.h"
#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/residual_norm.h"
#include "tests/unit/ops/op_testing.h"
//
#include "tests/support/test.h"

namespace bertft::ops::test {
namespace {

constexpr int64_t kWidth = 80, kHeads = 4;

struct Inputs {
  Sequences sequences = sequences_of({13, 5, 70, 2, 41});
  Dropout dropout = dropout_of(0.1, sequences, 1);
  at::Tensor x = random_tensor({131, kWidth}, 2), upstream = random_tensor({131, kWidth}, 3);
  at::Tensor joint = random_tensor({131, 3 * kWidth}, 4), bias = random_tensor({kWidth}, 5);
  at::Tensor square = random_tensor({kWidth, kWidth}, 6), word = random_tensor({50, kWidth}, 7);
  NormParameters norm{random_tensor({kWidth}, 8), random_tensor({kWidth}, 9), 1e-12};
};

// Every result of our own kernels (not of the BLAS) for the inputs.
std::vector<at::Tensor> run_kernels(const Inputs& in) {
  const at::Tensor joint = in.joint.clone(), d_joint = at::empty_like(joint);
  AttentionInput input{joint.slice(1, 0, kWidth), joint.slice(1, kWidth, 2 * kWidth), joint.slice(1, 2 * kWidth)};
  AttentionInput d_input{d_joint.slice(1, 0, kWidth), d_joint.slice(1, kWidth, 2 * kWidth),
                         d_joint.slice(1, 2 * kWidth)};
  const AttentionSettings settings{in.sequences, in.dropout, kHeads, Queries::kAll};
  const AttentionResult attended = attention(input, {in.bias, in.bias, in.bias}, settings);
  attention_backward(in.upstream, input, attended, settings, d_input);
  at::Tensor u = in.x.clone(), d_u = in.upstream.clone(), d_bias = at::empty_like(in.bias);
  const at::Tensor activated = bias_gelu(u, in.bias);
  bias_gelu_backward(d_u, u);
  bias_backward(d_u, d_bias, 0.0);
  at::Tensor branch = in.x.clone();
  const ResidualNormResult normed =
      bias_dropout_residual_norm(branch, in.bias, in.upstream, in.norm, in.sequences, in.dropout);
  ResidualNormGradients d_norm{at::empty_like(in.x), at::empty_like(in.x), at::empty_like(in.bias),
                               at::empty_like(in.bias), at::empty_like(in.bias)};
  bias_dropout_residual_norm_backward(in.upstream, normed, in.norm, in.sequences, in.dropout, d_norm);
  TokenIds tokens;
  for (int32_t i = 0; i < 131; ++i) {
    tokens.word.push_back(i * i % 7), tokens.position.push_back(i % 20), tokens.token_type.push_back(0);
  }
  const EmbeddingResult embedded =
      embedding_norm_dropout(tokens, {in.word, in.word, in.word}, in.norm, in.sequences, in.dropout);
  EmbeddingGradients d_tables{at::zeros_like(in.word), at::zeros_like(in.word), at::zeros_like(in.word), nullptr,
                              at::zeros_like(in.bias), at::zeros_like(in.bias)};
  embedding_norm_dropout_backward(in.upstream, tokens, embedded, in.norm, in.sequences, in.dropout, d_tables);
  return {attended.context,
          attended.log_sums,
          d_joint,
          u,
          d_u,
          d_bias,
          activated,
          normed.output,
          normed.mean,
          normed.rstd,
          d_norm.x,
          d_norm.residual,
          d_norm.bias,
          d_norm.norm_bias,
          embedded.output,
          d_tables.word,
          d_tables.position,
          d_tables.token_type,
          d_tables.norm_weight,
          d_norm.norm_weight};
}

std::vector<at::Tensor> run_products(const Inputs& in) {
  at::Tensor dx = at::empty_like(in.x), dw = at::empty_like(in.square);
  const at::Tensor y = bertft::ops::linear(in.x, in.square);
  linear_backward_input(in.upstream, in.square, dx, 0.0);
  linear_backward_weight(in.upstream, in.x, dw, 0.0);
  return {y, dx, dw};
}

void check_same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(is_same(a[i], b[i]));
  }
}

}  // namespace

TEST_CASE("own kernels give the same bits with one and with two threads") {
  const Inputs inputs;
  for_each_kernel_level([&](InstructionSet level) {
    CAPTURE(instruction_set_name(level));
    at::set_num_threads(1);
    const auto one = run_kernels(inputs);
    at::set_num_threads(2);
    check_same(run_kernels(inputs), one);
    at::set_num_threads(3);
    check_same(run_kernels(inputs), one);
    at::set_num_threads(2);
  });
}

TEST_CASE("every operation repeats its bits from run to run") {
  const Inputs inputs;
  at::set_num_threads(2);
  const auto kernels = run_kernels(inputs);
  const auto products = run_products(inputs);
  for (int i = 0; i < 5; ++i) {
    check_same(run_kernels(inputs), kernels);
    check_same(run_products(inputs), products);
  }
}

TEST_CASE("prepare_cpu sets threads and flushes denormals in each") {
  const CpuEnvironment environment = prepare_cpu(2);
  CHECK(environment.threads == 2);
  CHECK(at::get_num_threads() == 2);
  CHECK_FALSE(environment.blas_mode.empty());
  const float denormal = std::numeric_limits<float>::min() / 4.0f;
  std::vector<float> products(2, -1.0f);
#pragma omp parallel for num_threads(2) schedule(static, 1)
  for (size_t i = 0; i < 2; ++i) {
    volatile float x = denormal;
    products[i] = x * 2.0f;
  }
  CHECK(products == std::vector<float>{0.0f, 0.0f});
}

}  // namespace bertft::ops::test
