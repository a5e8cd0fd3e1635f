// The ATen operations in double precision against central differences: every gradient of every operation.
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include "ops/attention.h"
#include "ops/embedding.h"
#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/residual_norm.h"
#include "tests/unit/ops/op_testing.h"
//
#include "tests/support/test.h"

namespace bertft::ops::test {
namespace {

constexpr double kTolerance = 1e-8;

at::Tensor random_double(at::IntArrayRef sizes, uint64_t seed) { return random_tensor(sizes, seed, at::kDouble); }

}  // namespace

TEST_CASE("gradients of linear layers match finite differences") {
  const at::Tensor x = random_double({5, 4}, 1), w = random_double({3, 4}, 2), g = random_double({5, 3}, 3);
  const auto loss = [&] { return inner_product(linear(x, w), g); };
  at::Tensor dx = at::empty_like(x), dw = at::empty_like(w);
  linear_backward_input(g, w, dx, 0.0);
  linear_backward_weight(g, x, dw, 0.0);
  CHECK(gradient_error(x, dx, loss) < kTolerance);
  CHECK(gradient_error(w, dw, loss) < kTolerance);
}

TEST_CASE("gradients of bias and GELU match finite differences") {
  const at::Tensor x = random_double({5, 6}, 4).mul(2.0), bias = random_double({6}, 5), g = random_double({5, 6}, 6);
  const auto loss = [&] {
    at::Tensor copy = x.clone();
    return inner_product(bias_gelu(copy, bias), g);
  };
  at::Tensor u = x.clone();
  bias_gelu(u, bias);
  at::Tensor dx = g.clone(), db = at::empty_like(bias);
  bias_gelu_backward(dx, u);
  bias_backward(dx, db, 0.0);
  CHECK(gradient_error(x, dx, loss) < kTolerance);
  CHECK(gradient_error(bias, db, loss) < kTolerance);
}

TEST_CASE("gradients of attention match finite differences") {
  const Sequences sequences = sequences_of({3, 1, 4});
  const int64_t rows = sequences.rows(), width = 6;
  for (const Queries queries : {Queries::kAll, Queries::kFirst}) {
    for (const double probability : {0.0, 0.3}) {
      const Dropout dropout = dropout_of(probability, sequences, 7);
      const AttentionSettings settings{sequences, dropout, 2, queries};
      const int64_t query_rows = queries == Queries::kAll ? rows : sequences.count();
      const AttentionInput input{random_double({query_rows, width}, 8), random_double({rows, width}, 9),
                                 random_double({rows, width}, 10)};
      const AttentionBias bias{random_double({width}, 11), random_double({width}, 12), random_double({width}, 13)};
      const at::Tensor g = random_double({query_rows, width}, 14);
      const auto loss = [&] {
        AttentionInput copy{input.query.clone(), input.key.clone(), input.value.clone()};
        return inner_product(attention(copy, bias, settings).context, g);
      };
      AttentionInput biased{input.query.clone(), input.key.clone(), input.value.clone()};
      const AttentionResult result = attention(biased, bias, settings);
      AttentionInput gradients{at::empty_like(input.query), at::empty_like(input.key), at::empty_like(input.value)};
      attention_backward(g, biased, result, settings, gradients);
      CAPTURE(probability, query_rows);
      CHECK(gradient_error(input.query, gradients.query, loss) < kTolerance);
      CHECK(gradient_error(input.key, gradients.key, loss) < kTolerance);
      CHECK(gradient_error(input.value, gradients.value, loss) < kTolerance);
      at::Tensor db = at::empty_like(bias.value);
      bias_backward(gradients.value, db, 0.0);
      CHECK(gradient_error(bias.value, db, loss) < kTolerance);
    }
  }
}

TEST_CASE("gradients of the residual norm match finite differences") {
  const Sequences sequences = sequences_of({2, 3});
  const int64_t rows = sequences.rows(), width = 6;
  for (const double probability : {0.0, 0.4}) {
    const Dropout dropout = dropout_of(probability, sequences, 20);
    const at::Tensor x = random_double({rows, width}, 21), residual = random_double({rows, width}, 22);
    const at::Tensor bias = random_double({width}, 23), g = random_double({rows, width}, 24);
    const NormParameters norm{random_double({width}, 25), random_double({width}, 26), 1e-3};
    const auto forward = [&] {
      at::Tensor copy = x.clone();
      return bias_dropout_residual_norm(copy, bias, residual, norm, sequences, dropout);
    };
    const auto loss = [&] { return inner_product(forward().output, g); };
    ResidualNormGradients gradients{at::empty_like(x), at::empty_like(x), at::empty_like(bias), at::empty_like(bias),
                                    at::empty_like(bias)};
    bias_dropout_residual_norm_backward(g, forward(), norm, sequences, dropout, gradients);
    CAPTURE(probability);
    CHECK(gradient_error(x, gradients.x, loss) < kTolerance);
    CHECK(gradient_error(residual, gradients.residual, loss) < kTolerance);
    CHECK(gradient_error(bias, gradients.bias, loss) < kTolerance);
    CHECK(gradient_error(norm.weight, gradients.norm_weight, loss) < kTolerance);
    CHECK(gradient_error(norm.bias, gradients.norm_bias, loss) < kTolerance);
  }
}

TEST_CASE("gradients of the embeddings match finite differences") {
  const Sequences sequences = sequences_of({3, 2});
  const TokenIds tokens{{4, 1, 4, 0, 4}, {0, 1, 2, 0, 1}, {0, 0, 1, 0, 0}};
  const int64_t width = 5;
  for (const double probability : {0.0, 0.4}) {
    const Dropout dropout = dropout_of(probability, sequences, 30);
    const EmbeddingTables tables{random_double({6, width}, 31), random_double({4, width}, 32),
                                 random_double({2, width}, 33)};
    const NormParameters norm{random_double({width}, 34), random_double({width}, 35), 1e-3};
    const at::Tensor g = random_double({sequences.rows(), width}, 36);
    const auto forward = [&] { return embedding_norm_dropout(tokens, tables, norm, sequences, dropout); };
    const auto loss = [&] { return inner_product(forward().output, g); };
    TouchedRows touched;
    EmbeddingGradients gradients{at::zeros_like(tables.word),       at::empty_like(tables.position),
                                 at::empty_like(tables.token_type), &touched,
                                 at::empty_like(norm.weight),       at::empty_like(norm.bias)};
    embedding_norm_dropout_backward(g, tokens, forward(), norm, sequences, dropout, gradients);
    CAPTURE(probability);
    CHECK(touched.rows == std::vector<int32_t>{0, 1, 4});
    CHECK(gradient_error(tables.word, gradients.word, loss) < kTolerance);
    CHECK(gradient_error(tables.position, gradients.position, loss) < kTolerance);
    CHECK(gradient_error(tables.token_type, gradients.token_type, loss) < kTolerance);
    CHECK(gradient_error(norm.weight, gradients.norm_weight, loss) < kTolerance);
    CHECK(gradient_error(norm.bias, gradients.norm_bias, loss) < kTolerance);
  }
}

}  // namespace bertft::ops::test
