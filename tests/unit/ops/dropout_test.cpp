// Counter-based dropout: its rate, its independence, and that packing does not change it.
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "core/rng.h"
#include "ops/attention.h"
#include "ops/dropout.h"
#include "ops/embedding.h"
#include "ops/residual_norm.h"
#include "tests/unit/ops/op_testing.h"
//
#include "tests/support/test.h"

namespace bertft::ops::test {
namespace {

// 1 where an element is dropped, as doubles in a row.
std::vector<double> dropped_flags(const at::Tensor& factors) {
  const at::Tensor flags = as_double(factors).eq(0.0).to(at::kDouble).contiguous();
  return {flags.const_data_ptr<double>(), flags.const_data_ptr<double>() + flags.numel()};
}

double mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

// How many standard deviations the correlation of two rows of flags of rate p lies from 0.
double correlation_in_sigmas(const std::vector<double>& a, const std::vector<double>& b, double p) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - p) * (b[i] - p);
  }
  return sum / (p * (1.0 - p) * std::sqrt(static_cast<double>(a.size())));
}

at::Tensor factors_of(const std::vector<int32_t>& lengths, std::vector<uint64_t> keys, int64_t width, double p) {
  Dropout dropout;
  dropout.probability = p;
  dropout.keys = std::move(keys);
  return dropout_factors(sequences_of(lengths), width, dropout, at::empty({0}, at::kFloat));
}

}  // namespace

TEST_CASE("dropout drops at the wanted rate and scales what it keeps") {
  for (const double p : {0.02, 0.1, 0.5, 0.9}) {
    const at::Tensor factors = factors_of({200, 300}, {stream_key(1, 2), stream_key(1, 3)}, 400, p);
    const double count = static_cast<double>(factors.numel());
    CAPTURE(p);
    CHECK(std::abs(mean(dropped_flags(factors)) - p) < 4.0 * std::sqrt(p * (1.0 - p) / count));
    CHECK(factors.max().item<float>() == static_cast<float>(1.0 / (1.0 - p)));
  }
}

TEST_CASE("dropout is the counter function of core") {
  const uint64_t key = stream_key(5, 6);
  const at::Tensor factors = factors_of({7}, {key}, 33, 0.3).contiguous();
  for (uint32_t i = 0; i < 7 * 33; ++i) {
    const bool dropped = counter_bits(key, i) < dropout_threshold(0.3);
    CHECK((factors.const_data_ptr<float>()[i] == 0.0f) == dropped);
  }
}

TEST_CASE("dropout is independent between sites, rows and neighbours") {
  const double p = 0.1;
  const int64_t rows = 300, width = 384;
  const std::vector<double> base = dropped_flags(factors_of({300}, {stream_key(1, 2, 3)}, width, p));
  const auto shifted = [&](int64_t by) { return std::vector<double>(base.begin() + by, base.end()); };
  const auto shortened = [&](int64_t by) { return std::vector<double>(base.begin(), base.end() - by); };
  for (const uint64_t other_site : {4u, 5u, 6u, 1000003u}) {
    const auto other =
        dropped_flags(factors_of({static_cast<int32_t>(rows)}, {stream_key(1, 2, other_site)}, width, p));
    CAPTURE(other_site);
    CHECK(std::abs(correlation_in_sigmas(base, other, p)) < 4.0);
  }
  for (const int64_t distance : {1, 2, 16, 383, 384, 768}) {
    CAPTURE(distance);
    CHECK(std::abs(correlation_in_sigmas(shifted(distance), shortened(distance), p)) < 4.0);
  }
}

TEST_CASE("dropout does not depend on what a sequence is packed with") {
  const std::vector<uint64_t> keys = {11, 22, 33};
  const at::Tensor packed = factors_of({3, 5, 2}, keys, 40, 0.2);
  CHECK(is_same(packed.narrow(0, 3, 5), factors_of({5}, {22}, 40, 0.2)));
  CHECK(is_same(packed.narrow(0, 8, 2), factors_of({2, 1}, {33, 1}, 40, 0.2).narrow(0, 0, 2)));
}

TEST_CASE("kernels drop exactly the elements of dropout_factors") {
  const std::vector<int32_t> lengths = {5, 1, 40, 2};
  const Sequences sequences = sequences_of(lengths);
  const int64_t width = 52;
  const Dropout dropout = dropout_of(0.25, sequences, 9);
  const at::Tensor factors = dropout_factors(sequences, width, dropout, at::empty({0}, at::kFloat));
  const NormParameters norm{at::zeros({width}), at::ones({width}), 1e-12};
  for_each_kernel_level([&](InstructionSet level) {
    CAPTURE(instruction_set_name(level));
    at::Tensor x = at::ones({sequences.rows(), width});
    const ResidualNormResult result = bias_dropout_residual_norm(
        x, at::zeros({width}), at::zeros({sequences.rows(), width}), norm, sequences, dropout);
    CHECK(is_same(result.sum, factors));
    // The norm's output is its bias, 1, so the embeddings' output is the factors.
    TokenIds tokens;
    const auto rows = static_cast<size_t>(sequences.rows());
    tokens.word.resize(rows), tokens.position.resize(rows), tokens.token_type.resize(rows);
    const EmbeddingTables tables{at::ones({1, width}), at::ones({1, width}), at::ones({1, width})};
    CHECK(is_same(embedding_norm_dropout(tokens, tables, norm, sequences, dropout).output, factors));
  });
}

TEST_CASE("attention drops by head, query and key of the sequence") {
  // Equal scores and the identity as values lay the dropped probabilities bare.
  const Sequences sequences = sequences_of({3, 8});
  const Dropout dropout = dropout_of(0.5, sequences, 12);
  const int64_t heads = 2, head_dim = 8, width = heads * head_dim;
  const at::Tensor zeros = at::zeros({width});
  for_each_kernel_level([&](InstructionSet level) {
    AttentionInput input{at::zeros({11, width}), at::zeros({11, width}), at::zeros({11, width})};
    auto* values = input.value.mutable_data_ptr<float>();
    for (int64_t row = 0; row < 8; ++row) {
      for (int64_t head = 0; head < heads; ++head) {
        values[(3 + row) * width + head * head_dim + row] = 1.0f;
      }
    }
    const AttentionSettings settings{sequences, dropout, heads, Queries::kAll};
    const AttentionResult result = attention(input, {zeros, zeros, zeros}, settings);
    const auto* context = result.context.const_data_ptr<float>();
    CAPTURE(instruction_set_name(level));
    for (uint32_t head = 0; head < 2; ++head) {
      for (uint32_t query = 0; query < 8; ++query) {
        for (uint32_t key = 0; key < 8; ++key) {
          const bool dropped = counter_bits(dropout.keys[1], (head * 8 + query) * 8 + key) < dropout_threshold(0.5);
          const float probability = context[(3 + query) * width + head * 8 + key];
          CHECK(probability == Approx(dropped ? 0.0 : 2.0 / 8.0));
        }
      }
    }
  });
}

TEST_CASE("dropout for heads follows autograd and is nothing when off") {
  const Sequences sequences = single_rows(6);
  Dropout off;
  const at::Tensor x = random_tensor({6, 10}, 1).set_requires_grad(true);
  CHECK(dropout(x, sequences, off).is_same(x));
  const Dropout on = dropout_of(0.5, sequences, 2);
  dropout(x, sequences, on).sum().backward();
  CHECK(is_same(x.grad(), dropout_factors(sequences, 10, on, x)));
}

}  // namespace bertft::ops::test
