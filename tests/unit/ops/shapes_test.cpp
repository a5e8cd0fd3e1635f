// Wrong shapes, types and strides are refused by name, never read or written; empty batches work.
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "core/error.h"
#include "ops/attention.h"
#include "ops/embedding.h"
#include "ops/gelu.h"
#include "ops/implementation.h"
#include "ops/linear.h"
#include "ops/residual_norm.h"
#include "tests/unit/ops/op_testing.h"
//
#include "tests/support/test.h"

namespace bertft::ops::test {
namespace {

using Catch::Contains;

}  // namespace

TEST_CASE("operations refuse arguments that do not fit") {
  at::Tensor x = at::zeros({4, 6});
  const at::Tensor bias = at::zeros({6}), wide = at::zeros({4, 12});
  CHECK_THROWS_WITH(bias_gelu(x, at::zeros({5})), Contains("bias"));
  CHECK_THROWS_WITH(bias_gelu(x, at::zeros({6}, at::kDouble)), Contains("bias") && Contains("Double"));
  CHECK_THROWS_AS(bias_gelu(x, at::Tensor()), InternalError);
  at::Tensor columns = at::zeros({6, 4}).t();
  CHECK_THROWS_WITH(bias_gelu(columns, bias), Contains("contiguous rows"));
  CHECK_THROWS_WITH(linear(x, at::zeros({3, 5})), Contains("w"));
  at::Tensor small = at::zeros({4, 5});
  CHECK_THROWS_WITH(linear_backward_input(x, at::zeros({6, 6}), small, 0.0), Contains("dx"));
  CHECK_THROWS_WITH(linear_backward_weight(x, at::zeros({3, 6}), small, 0.0), Contains("x"));
}

TEST_CASE("operations refuse sequences and keys that do not fit") {
  const Sequences sequences = sequences_of({3, 1});
  const Dropout off;
  const at::Tensor bias = at::zeros({6});
  const NormParameters norm{bias, bias, 1e-12};
  at::Tensor x = at::zeros({5, 6}), rows = at::zeros({4, 6});
  CHECK_THROWS_WITH(bias_dropout_residual_norm(x, bias, x, norm, sequences, off), Contains("x"));
  Dropout one_key = dropout_of(0.1, sequences, 1);
  one_key.keys.pop_back();
  CHECK_THROWS_WITH(bias_dropout_residual_norm(rows, bias, rows, norm, sequences, one_key), Contains("key"));
  Sequences empty_sequence = sequences;
  empty_sequence.offsets[1] = 0;
  AttentionInput input{rows.clone(), rows.clone(), rows.clone()};
  CHECK_THROWS_WITH(attention(input, {bias, bias, bias}, {empty_sequence, off, 2, Queries::kAll}),
                    Contains("at least one row"));
  CHECK_THROWS_WITH(attention(input, {bias, bias, bias}, {sequences, off, 4, Queries::kAll}), Contains("heads"));
  CHECK_THROWS_WITH(attention(input, {bias, bias, bias}, {sequences, off, 2, Queries::kFirst}), Contains("query"));
}

TEST_CASE("embedding ids outside their table are refused") {
  const Sequences sequences = sequences_of({2});
  const EmbeddingTables tables{at::zeros({5, 4}), at::zeros({3, 4}), at::zeros({2, 4})};
  const NormParameters norm{at::ones({4}), at::zeros({4}), 1e-12};
  const Dropout off;
  CHECK_NOTHROW(embedding_norm_dropout({{0, 4}, {0, 2}, {0, 1}}, tables, norm, sequences, off));
  for (const TokenIds& wrong : {TokenIds{{0, 5}, {0, 1}, {0, 0}}, TokenIds{{0, 4}, {-1, 1}, {0, 0}},
                                TokenIds{{0, 4}, {0, 1}, {0, 2}}, TokenIds{{0}, {0, 1}, {0, 0}}}) {
    CHECK_THROWS_AS(embedding_norm_dropout(wrong, tables, norm, sequences, off), InternalError);
  }
}

TEST_CASE("sequences of one row, and an empty batch") {
  CHECK(single_rows(3).offsets == std::vector<int32_t>{0, 1, 2, 3});
  CHECK(single_rows(3).max_length == 1);
  CHECK(is_same(first_rows(sequences_of({3, 1, 4}), at::kCPU), at::tensor({0, 3, 4}, at::kLong)));
  const Sequences none = single_rows(0);
  const Dropout off;
  at::Tensor x = at::zeros({0, 6}), db = at::ones({6});
  const at::Tensor bias = at::zeros({6});
  CHECK(bias_gelu(x, bias).size(0) == 0);
  CHECK(bias_dropout_residual_norm(x, bias, x, {bias, bias, 1e-12}, none, off).output.size(0) == 0);
  AttentionInput input{x, x, x};
  CHECK(attention(input, {bias, bias, bias}, {none, off, 2, Queries::kAll}).context.size(0) == 0);
  bias_backward(x, db, 1.0);
  CHECK(db.sum().item<float>() == 6.0f);
  bias_backward(x, db, 0.0);
  CHECK(db.sum().item<float>() == 0.0f);
}

TEST_CASE("beta 0 does not read the destination") {
  const at::Tensor x = random_tensor({5, 6}, 1), w = random_tensor({4, 6}, 2), dy = random_tensor({5, 4}, 3);
  for (const Implementation implementation : {Implementation::kAuto, Implementation::kAten}) {
    set_implementation(implementation);
    at::Tensor dx = at::empty({5, 6}).fill_(NAN), dw = at::empty({4, 6}).fill_(NAN), db = at::empty({4}).fill_(NAN);
    linear_backward_input(dy, w, dx, 0.0);
    linear_backward_weight(dy, x, dw, 0.0);
    bias_backward(dy, db, 0.0);
    CHECK_FALSE(dx.isnan().any().item<bool>());
    CHECK_FALSE(dw.isnan().any().item<bool>());
    CHECK_FALSE(db.isnan().any().item<bool>());
  }
  set_implementation(Implementation::kAuto);
}

TEST_CASE("not-a-number in an input reaches the output") {
  for_each_kernel_level([&](InstructionSet level) {
    CAPTURE(instruction_set_name(level));
    const Sequences sequences = sequences_of({5, 20});
    const Dropout off;
    const at::Tensor zeros = at::zeros({32}), ones = at::ones({32});
    const auto spoiled = [](int64_t columns) {
      at::Tensor x = random_tensor({25, columns}, 1);
      x.select(0, 7).select(0, 3).fill_(NAN);
      return x;
    };
    const auto is_spoiled = [](const at::Tensor& x) { return x.isnan().any().item<bool>(); };
    at::Tensor x = spoiled(32);
    CHECK(is_spoiled(bias_gelu(x, zeros)));
    x = spoiled(32);
    CHECK(is_spoiled(
        bias_dropout_residual_norm(x, zeros, random_tensor({25, 32}, 2), {ones, zeros, 1e-12}, sequences, off).output));
    for (int which = 0; which < 3; ++which) {
      AttentionInput input{random_tensor({25, 32}, 3), random_tensor({25, 32}, 4), random_tensor({25, 32}, 5)};
      (which == 0 ? input.query : which == 1 ? input.key : input.value) = spoiled(32);
      CHECK(is_spoiled(attention(input, {zeros, zeros, zeros}, {sequences, off, 2, Queries::kAll}).context));
    }
  });
}

}  // namespace bertft::ops::test
