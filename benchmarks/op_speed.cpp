// Times each operation of src/ops and src/optim beside the ATen operations that it replaces, forward and backward, at
// several numbers of tokens. Both sides alternate; medians. Attention's other side computes [texts, heads, length,
// head_dim] at once: all texts have the same length here, so it has nothing to pad.
// Usage: bench_op_speed [threads [rounds]].
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/add.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/native_dropout.h>
#include <ATen/ops/native_dropout_backward.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "core/cpu_features.h"
#include "core/layout.h"
#include "core/rng.h"
#include "core/timer.h"
#include "ops/attention.h"
#include "ops/cpu_environment.h"
#include "ops/embedding.h"
#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/residual_norm.h"
#include "optim/adamw.h"
#include "optim/flat_norm.h"

namespace bertft {
namespace {

constexpr int64_t kHidden = 384, kInner = 1536, kHeads = 12, kWords = 30522;
constexpr double kDropout = 0.1;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Each side runs once to warm up, then as often as fits into about 20 ms, `rounds` times in turn.
void compare(const std::string& name, int rounds, const std::function<void()>& own, const std::function<void()>& aten) {
  const auto repeats_of = [](const std::function<void()>& work) {
    work();
    const Timer timer;
    work();
    return std::clamp(static_cast<int>(0.02 / std::max(timer.seconds(), 1e-7)), 1, 2000);
  };
  const int own_repeats = repeats_of(own), aten_repeats = repeats_of(aten);
  const auto microseconds = [](const std::function<void()>& work, int repeats) {
    const Timer timer;
    for (int i = 0; i < repeats; ++i) work();
    return 1e6 * timer.seconds() / repeats;
  };
  std::vector<double> own_us, aten_us;
  for (int round = 0; round < rounds; ++round) {
    own_us.push_back(microseconds(own, own_repeats));
    aten_us.push_back(microseconds(aten, aten_repeats));
  }
  fmt::print("| {} | {:.1f} | {:.1f} | {:.2f}x |\n", name, median(own_us), median(aten_us),
             median(aten_us) / median(own_us));
}

ops::Sequences equal_texts(int64_t count, int64_t length) {
  ops::Sequences sequences;
  for (int64_t i = 0; i <= count; ++i) sequences.offsets.push_back(static_cast<int32_t>(i * length));
  sequences.max_length = length;
  return sequences;
}

ops::Dropout some_dropout(int64_t texts) {
  ops::Dropout dropout;
  dropout.probability = kDropout;
  for (int64_t i = 0; i < texts; ++i) dropout.keys.push_back(mix64(static_cast<uint64_t>(i) + 5));
  return dropout;
}

void compare_linear(int64_t T, int rounds) {
  const at::Tensor x = at::randn({T, kHidden}), w = at::randn({kInner, kHidden}), dy = at::randn({T, kInner});
  at::Tensor dx = at::empty_like(x), dw = at::empty_like(w);
  compare(
      "linear", rounds, [&] { ops::linear(x, w); }, [&] { at::linear(x, w); });
  compare(
      "linear, backward", rounds,
      [&] {
        ops::linear_backward_input(dy, w, dx, 0.0);
        ops::linear_backward_weight(dy, x, dw, 0.0);
      },
      [&] {
        at::mm_out(dx, dy, w);
        at::mm_out(dw, dy.t(), x);
      });
}

void compare_gelu(int64_t T, int rounds) {
  const at::Tensor bias = at::randn({kInner}), source = at::randn({T, kInner}), dy = at::randn({T, kInner});
  at::Tensor x = source.clone(), d = dy.clone();
  compare(
      "bias + GELU", rounds, [&] { ops::bias_gelu(x, bias); }, [&] { at::gelu(at::add(source, bias)); });
  // In place, so what it works on drifts; the time does not depend on it.
  compare(
      "GELU, backward", rounds, [&] { ops::bias_gelu_backward(d, source); }, [&] { at::gelu_backward(dy, source); });
}

void compare_norm(const ops::Sequences& sequences, int rounds) {
  const int64_t T = sequences.rows();
  const at::Tensor bias = at::randn({kHidden}), weight = at::randn({kHidden}), residual = at::randn({T, kHidden});
  const at::Tensor dy = at::randn({T, kHidden}), source = at::randn({T, kHidden});
  at::Tensor x = source.clone();
  const ops::Dropout dropout = some_dropout(sequences.count());
  const ops::NormParameters norm{weight, bias, 1e-12};
  compare(
      "bias + dropout + residual + LayerNorm", rounds,
      [&] { ops::bias_dropout_residual_norm(x, bias, residual, norm, sequences, dropout); },
      [&] {
        const at::Tensor dropped = std::get<0>(at::native_dropout(at::add(source, bias), kDropout, true));
        at::native_layer_norm(at::add(dropped, residual), {kHidden}, weight, bias, 1e-12);
      });
  at::Tensor kept = source.clone();
  const ops::ResidualNormResult result =
      ops::bias_dropout_residual_norm(kept, bias, residual, norm, sequences, dropout);
  ops::ResidualNormGradients out{at::empty_like(dy),   at::empty_like(dy),   at::empty_like(bias),
                                 at::empty_like(bias), at::empty_like(bias), 0.0};
  const auto [dropped, mask] = at::native_dropout(source, kDropout, true);
  const auto [normed, mean, rstd] = at::native_layer_norm(source, {kHidden}, weight, bias, 1e-12);
  compare(
      "bias + dropout + residual + LayerNorm, backward", rounds,
      [&] { ops::bias_dropout_residual_norm_backward(dy, result, norm, sequences, dropout, out); },
      [&] {
        const auto [dsum, dweight, dbias] =
            at::native_layer_norm_backward(dy, source, {kHidden}, mean, rstd, weight, bias, {true, true, true});
        at::sum(at::native_dropout_backward(dsum, mask, 1.0 / (1.0 - kDropout)), {0});
      });
}

void compare_attention(const ops::Sequences& sequences, int rounds) {
  const int64_t T = sequences.rows(), texts = sequences.count(), length = sequences.max_length;
  const int64_t head_dim = kHidden / kHeads;
  const ops::Dropout dropout = some_dropout(texts);
  const ops::AttentionSettings settings{sequences, dropout, kHeads, ops::Queries::kAll};
  const at::Tensor zero = at::zeros({kHidden});
  ops::AttentionInput input{at::randn({T, kHidden}), at::randn({T, kHidden}), at::randn({T, kHidden})};
  ops::AttentionInput gradients{at::empty({T, kHidden}), at::empty({T, kHidden}), at::empty({T, kHidden})};
  const at::Tensor dy = at::randn({T, kHidden});
  const auto heads_of = [&](const at::Tensor& rows) {
    return rows.view({texts, length, kHeads, head_dim}).transpose(1, 2).reshape({texts * kHeads, length, head_dim});
  };
  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  at::Tensor probabilities, mask, dropped;
  const auto aten_forward = [&] {
    const at::Tensor q = heads_of(input.query), k = heads_of(input.key), v = heads_of(input.value);
    probabilities = at::_softmax(at::bmm(q, k.transpose(1, 2)).mul_(scale), -1, false);
    std::tie(dropped, mask) = at::native_dropout(probabilities, kDropout, true);
    at::bmm(dropped, v).view({texts, kHeads, length, head_dim}).transpose(1, 2).reshape({T, kHidden});
  };
  const auto aten_backward = [&] {
    const at::Tensor q = heads_of(input.query), k = heads_of(input.key), v = heads_of(input.value), d = heads_of(dy);
    const at::Tensor dv = at::bmm(dropped.transpose(1, 2), d);
    const at::Tensor dp = at::native_dropout_backward(at::bmm(d, v.transpose(1, 2)), mask, 1.0 / (1.0 - kDropout));
    const at::Tensor ds = at::_softmax_backward_data(dp, probabilities, -1, at::kFloat).mul_(scale);
    const at::Tensor dq = at::bmm(ds, k), dk = at::bmm(ds.transpose(1, 2), q);
  };
  ops::AttentionResult result;
  compare(
      "attention", rounds,
      [&] {
        result = ops::attention(input, {zero, zero, zero}, settings);
      },
      aten_forward);
  compare(
      "attention, backward", rounds, [&] { ops::attention_backward(dy, input, result, settings, gradients); },
      aten_backward);
}

void compare_embedding(const ops::Sequences& sequences, int rounds) {
  const int64_t T = sequences.rows();
  const ops::Dropout dropout = some_dropout(sequences.count());
  const ops::NormParameters norm{at::randn({kHidden}), at::randn({kHidden}), 1e-12};
  const ops::EmbeddingTables tables{at::randn({kWords, kHidden}), at::randn({512, kHidden}), at::randn({2, kHidden})};
  ops::TokenIds tokens;
  for (int64_t i = 0; i < T; ++i) {
    tokens.word.push_back(static_cast<int32_t>(mix64(static_cast<uint64_t>(i)) % kWords));
    tokens.position.push_back(static_cast<int32_t>(i % sequences.max_length));
    tokens.token_type.push_back(0);
  }
  const auto ids_of = [](const std::vector<int32_t>& ids) {
    at::Tensor tensor = at::empty({static_cast<int64_t>(ids.size())}, at::kLong);
    std::copy(ids.begin(), ids.end(), tensor.mutable_data_ptr<int64_t>());
    return tensor;
  };
  const at::Tensor word = ids_of(tokens.word), position = ids_of(tokens.position), type = ids_of(tokens.token_type);
  compare(
      "embeddings + LayerNorm + dropout", rounds,
      [&] { ops::embedding_norm_dropout(tokens, tables, norm, sequences, dropout); },
      [&] {
        const at::Tensor sum = at::embedding(tables.word, word)
                                   .add_(at::embedding(tables.position, position))
                                   .add_(at::embedding(tables.token_type, type));
        at::native_dropout(std::get<0>(at::native_layer_norm(sum, {kHidden}, norm.weight, norm.bias, 1e-12)), kDropout,
                           true);
      });
  const at::Tensor dy = at::randn({T, kHidden}), source = at::randn({T, kHidden});
  const ops::EmbeddingResult result = ops::embedding_norm_dropout(tokens, tables, norm, sequences, dropout);
  ops::TouchedRows touched;
  ops::EmbeddingGradients out{at::zeros({kWords, kHidden}),
                              at::zeros({512, kHidden}),
                              at::zeros({2, kHidden}),
                              &touched,
                              at::zeros({kHidden}),
                              at::zeros({kHidden}),
                              0.0};
  const auto [dropped, mask] = at::native_dropout(source, kDropout, true);
  const auto [normed, mean, rstd] = at::native_layer_norm(source, {kHidden}, norm.weight, norm.bias, 1e-12);
  compare(
      "embeddings + LayerNorm + dropout, backward", rounds,
      [&] { ops::embedding_norm_dropout_backward(dy, tokens, result, norm, sequences, dropout, out); },
      [&] {
        const at::Tensor d = at::native_dropout_backward(dy, mask, 1.0 / (1.0 - kDropout));
        const at::Tensor dsum = std::get<0>(at::native_layer_norm_backward(d, source, {kHidden}, mean, rstd,
                                                                           norm.weight, norm.bias, {true, true, true}));
        at::embedding_dense_backward(dsum, word, kWords, -1, false);
        at::embedding_dense_backward(dsum, position, 512, -1, false);
        at::embedding_dense_backward(dsum, type, 2, -1, false);
      });
}

// The 22.7 million parameters of MiniLM, `rows` of its word table in use.
void compare_update(int64_t rows, int rounds) {
  const Layout layout = make_layout(
      {{.name = "layers", .shape = {10976640}}, {.name = "words", .shape = {kWords, kHidden}, .is_lookup_table = true}},
      kDefaultUnitElements);
  const at::Tensor weights = at::randn({layout.total}), gradient = at::zeros({layout.total});
  std::vector<int32_t> touched;
  for (int64_t row = 0; row < rows; ++row) touched.push_back(static_cast<int32_t>(row * (kWords / rows)));
  gradient.narrow(0, 0, layout.entries[1].offset).normal_();
  for (const int32_t row : touched) gradient.narrow(0, layout.entries[1].offset + row * kHidden, kHidden).normal_();
  AdamW optimizer(gradient, layout, {});
  std::vector<at::Tensor> w = {weights.clone()}, g = {gradient}, m = {at::zeros_like(weights)},
                          v = {at::zeros_like(weights)}, unused = {}, steps = {at::ones({})};
  const TableRows known{.entry = 1, .rows = touched};
  compare(
      fmt::format("norm + clip + AdamW, {} word rows", rows), rounds,
      [&] {
        const double norm = gradient_norm(gradient, layout, known).norm;
        optimizer.step(weights, gradient, 5e-5, clip_factor(norm, 1.0), known);
      },
      [&] {
        const double norm = at::linalg_vector_norm(gradient).item<double>();
        gradient.mul_(std::min(1.0, 1e9 / (norm + 1e-6)));
        at::_fused_adamw_(w, g, m, v, unused, steps, 5e-5, 0.9, 0.999, 0.01, 1e-8, false, false);
      });
}

}  // namespace
}  // namespace bertft

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  const auto environment = bertft::ops::prepare_cpu(threads);
  fmt::print("{} threads, kernels {}, products by {}, medians of {} rounds, MiniLM's widths, fp32, dropout 0.1\n",
             threads, bertft::instruction_set_name(bertft::instruction_set()), environment.products, rounds);
  for (const std::array<int64_t, 2> texts : {std::array<int64_t, 2>{2, 16}, {32, 16}, {32, 128}}) {
    const bertft::ops::Sequences sequences = bertft::equal_texts(texts[0], texts[1]);
    fmt::print("\n{} tokens, {} texts of {}\n\n| operation | own, us | ATen, us | ratio |\n| --- | --- | --- | --- |\n",
               sequences.rows(), texts[0], texts[1]);
    bertft::compare_embedding(sequences, rounds);
    bertft::compare_linear(sequences.rows(), rounds);
    bertft::compare_attention(sequences, rounds);
    bertft::compare_gelu(sequences.rows(), rounds);
    bertft::compare_norm(sequences, rounds);
  }
  fmt::print(
      "\nUpdate of 22.7 million parameters\n\n| operation | own, us | ATen, us | ratio |\n| --- | --- | --- | --- |\n");
  for (const int64_t rows : {int64_t{300}, int64_t{15000}}) bertft::compare_update(rows, rounds);
  return 0;
}
