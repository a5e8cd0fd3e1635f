// Times the operations of one training step of a BERT encoder, forward and backward without autograd and optimizer, and
// compares the step with its matrix products alone: the share of the GEMM floor.
// Usage: bench_encoder_ops [threads [rounds [shape]]], a shape being a part of its name.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "core/cpu_features.h"
#include "core/rng.h"
#include "ops/attention.h"
#include "ops/cpu_environment.h"
#include "ops/embedding.h"
#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/residual_norm.h"

namespace bertft::ops {
namespace {

enum Part { kGemm, kAttention, kGelu, kNorm, kEmbedding, kBiasSums, kParts };
constexpr std::array<const char*, kParts> kPartNames = {"GEMM", "attention", "GELU", "norm", "embedding", "bias sums"};

// With one thread the processor time of this thread, so that a busy machine disturbs less; else the wall clock.
bool measures_processor_time = false;

double now_ms() {
  timespec time{};
  clock_gettime(measures_processor_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

struct Shape {
  std::string name;
  int64_t hidden, intermediate, heads, layers;
  std::vector<int32_t> lengths;
};

// 32 short texts of 428 tokens together, as in SST-2.
std::vector<int32_t> short_texts() {
  std::vector<int32_t> lengths(32);
  for (size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = static_cast<int32_t>(4 + (i * 7) % 20);
  }
  lengths.back() += 428 - std::accumulate(lengths.begin(), lengths.end(), 0);
  return lengths;
}

struct Linear {
  at::Tensor weight, bias, weight_gradient, bias_gradient;
};

Linear make_linear(int64_t outputs, int64_t inputs) {
  return {at::randn({outputs, inputs}).mul_(0.02), at::zeros({outputs}), at::zeros({outputs, inputs}),
          at::zeros({outputs})};
}

struct Norm {
  NormParameters parameters;
  at::Tensor weight_gradient, bias_gradient;
};

Norm make_norm(int64_t width) {
  return {{at::zeros({width}).add_(1.0), at::zeros({width}), 1e-12}, at::zeros({width}), at::zeros({width})};
}

struct Layer {
  Layer(int64_t hidden, int64_t intermediate)
      : joint(make_linear(3 * hidden, hidden)),
        output(make_linear(hidden, hidden)),
        up(make_linear(intermediate, hidden)),
        down(make_linear(hidden, intermediate)),
        attention_norm(make_norm(hidden)),
        output_norm(make_norm(hidden)) {}

  Linear joint, output, up, down;  // joint: query, key and value in one matrix [3 H, H]
  Norm attention_norm, output_norm;
  // What forward leaves for backward.
  at::Tensor x, x_queries, u, activated;
  AttentionInput projected;
  at::Tensor joint_rows;
  AttentionResult attended;
  ResidualNormResult normed_attention, normed_output;
};

class Encoder {
 public:
  explicit Encoder(const Shape& shape) : shape_(shape) {
    const int64_t h = shape.hidden;
    sequences_.offsets.push_back(0);
    for (const int32_t length : shape.lengths) {
      sequences_.offsets.push_back(sequences_.offsets.back() + length);
      sequences_.max_length = std::max<int64_t>(sequences_.max_length, length);
      for (int32_t i = 0; i < length; ++i) {
        tokens_.word.push_back(static_cast<int32_t>(mix64(tokens_.word.size()) % 30522));
        tokens_.position.push_back(i);
        tokens_.token_type.push_back(0);
      }
      dropout_.keys.push_back(mix64(dropout_.keys.size() + 77));
    }
    dropout_.probability = 0.1;
    singles_ = single_rows(sequences_.count());
    first_rows_ = first_rows(sequences_, at::kCPU);
    for (int64_t i = 0; i < shape.layers; ++i) {
      layers_.emplace_back(h, shape.intermediate);
    }
    tables_ = {at::randn({30522, h}), at::randn({512, h}), at::randn({2, h})};
    embedding_norm_ = make_norm(h);
    embedding_gradients_ = {at::zeros({30522, h}),           at::zeros({512, h}),          at::zeros({2, h}), &touched_,
                            embedding_norm_.weight_gradient, embedding_norm_.bias_gradient};
    upstream_ = at::randn({sequences_.count(), h});
  }

  // Milliseconds of one step; parts() tells how they divide.
  double step() {
    parts_.fill(0.0);
    const double start = now_ms();
    timed(kEmbedding, [&] {
      embedded_ = embedding_norm_dropout(tokens_, tables_, embedding_norm_.parameters, sequences_, dropout_);
    });
    at::Tensor x = embedded_.output;
    for (size_t i = 0; i < layers_.size(); ++i) {
      x = forward(layers_[i], x, i + 1 == layers_.size());
    }
    at::Tensor gradient = upstream_;
    for (size_t i = layers_.size(); i-- > 0;) {
      gradient = backward(layers_[i], gradient, i + 1 == layers_.size());
    }
    timed(kEmbedding, [&] {
      embedding_norm_dropout_backward(gradient, tokens_, embedded_, embedding_norm_.parameters, sequences_, dropout_,
                                      embedding_gradients_);
    });
    return now_ms() - start;
  }

  // Milliseconds of the matrix products of one step alone, on matrices of the same shapes.
  double gemm_floor() {
    const double start = now_ms();
    for (Layer& layer : layers_) {
      const bool last = &layer == &layers_.back();
      const int64_t h = shape_.hidden, queries = last ? sequences_.count() : sequences_.rows();
      if (last) {
        products(layer.joint.weight.slice(0, 0, h), queries);
        products(layer.joint.weight.slice(0, h), sequences_.rows());
      } else {
        products(layer.joint.weight, queries);
      }
      products(layer.output.weight, queries);
      products(layer.up.weight, queries);
      products(layer.down.weight, queries);
    }
    return now_ms() - start;
  }

  const std::array<double, kParts>& parts() const { return parts_; }

 private:
  template <typename Body>
  void timed(Part part, const Body& body) {
    const double start = now_ms();
    body();
    parts_[part] += now_ms() - start;
  }

  // The three products of one linear layer.
  void products(const at::Tensor& weight, int64_t rows) {
    const at::Tensor x = floor_buffer(0, rows, weight.size(1));
    at::Tensor dx = floor_buffer(1, rows, weight.size(1));
    at::Tensor dw = floor_buffer(2, weight.size(0), weight.size(1));
    const at::Tensor y = linear(x, weight);
    linear_backward_input(y, weight, dx, 0.0);
    linear_backward_weight(y, x, dw, 0.0);
  }

  at::Tensor floor_buffer(size_t which, int64_t rows, int64_t width) {
    at::Tensor& buffer = floor_buffers_[which];
    if (!buffer.defined()) {
      const int64_t wide = std::max(shape_.intermediate, 3 * shape_.hidden);
      buffer = at::randn({std::max(sequences_.rows(), wide), wide});
    }
    return buffer.view({-1}).slice(0, 0, rows * width).view({rows, width});
  }

  at::Tensor forward(Layer& layer, const at::Tensor& x, bool is_last) {
    const int64_t h = shape_.hidden;
    layer.x = x;
    layer.x_queries = is_last ? x.index_select(0, first_rows_) : x;
    timed(kGemm, [&] {
      if (is_last) {
        layer.joint_rows = linear(x, layer.joint.weight.slice(0, h));
        layer.projected = {linear(layer.x_queries, layer.joint.weight.slice(0, 0, h)), layer.joint_rows.slice(1, 0, h),
                           layer.joint_rows.slice(1, h)};
      } else {
        layer.joint_rows = linear(x, layer.joint.weight);
        layer.projected = {layer.joint_rows.slice(1, 0, h), layer.joint_rows.slice(1, h, 2 * h),
                           layer.joint_rows.slice(1, 2 * h)};
      }
    });
    const AttentionBias bias{layer.joint.bias.slice(0, 0, h), layer.joint.bias.slice(0, h, 2 * h),
                             layer.joint.bias.slice(0, 2 * h)};
    const AttentionSettings settings = settings_of(is_last);
    timed(kAttention, [&] { layer.attended = attention(layer.projected, bias, settings); });
    at::Tensor branch;
    timed(kGemm, [&] { branch = linear(layer.attended.context, layer.output.weight); });
    const Sequences& rows = is_last ? singles_ : sequences_;
    timed(kNorm, [&] {
      layer.normed_attention = bias_dropout_residual_norm(branch, layer.output.bias, layer.x_queries,
                                                          layer.attention_norm.parameters, rows, dropout_);
    });
    timed(kGemm, [&] { layer.u = linear(layer.normed_attention.output, layer.up.weight); });
    timed(kGelu, [&] { layer.activated = bias_gelu(layer.u, layer.up.bias); });
    timed(kGemm, [&] { branch = linear(layer.activated, layer.down.weight); });
    timed(kNorm, [&] {
      layer.normed_output = bias_dropout_residual_norm(branch, layer.down.bias, layer.normed_attention.output,
                                                       layer.output_norm.parameters, rows, dropout_);
    });
    return layer.normed_output.output;
  }

  AttentionSettings settings_of(bool is_last) const {
    return {sequences_, dropout_, shape_.heads, is_last ? Queries::kFirst : Queries::kAll};
  }

  // The gradients of a residual norm's branch and residual.
  std::pair<at::Tensor, at::Tensor> norm_backward(const at::Tensor& gradient, const ResidualNormResult& result,
                                                  Norm& norm, Linear& before, bool is_last) {
    ResidualNormGradients gradients{at::empty_like(gradient), at::empty_like(gradient), before.bias_gradient,
                                    norm.weight_gradient,     norm.bias_gradient,       0.0};
    timed(kNorm, [&] {
      bias_dropout_residual_norm_backward(gradient, result, norm.parameters, is_last ? singles_ : sequences_, dropout_,
                                          gradients);
    });
    return {gradients.x, gradients.residual};
  }

  // Gradients of a linear layer's weight and input; the input's is added to dx where beta is 1.
  void linear_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight, at::Tensor weight_gradient,
                       at::Tensor& dx, double beta) {
    timed(kGemm, [&] {
      linear_backward_weight(dy, x, weight_gradient, 0.0);
      linear_backward_input(dy, weight, dx, beta);
    });
  }

  at::Tensor backward(Layer& layer, const at::Tensor& gradient, bool is_last) {
    const int64_t h = shape_.hidden;
    auto [d_down, residual] = norm_backward(gradient, layer.normed_output, layer.output_norm, layer.down, is_last);
    at::Tensor d_up = at::empty_like(layer.activated);
    linear_backward(d_down, layer.activated, layer.down.weight, layer.down.weight_gradient, d_up, 0.0);
    timed(kGelu, [&] { bias_gelu_backward(d_up, layer.u); });
    timed(kBiasSums, [&] { bias_backward(d_up, layer.up.bias_gradient, 0.0); });
    linear_backward(d_up, layer.normed_attention.output, layer.up.weight, layer.up.weight_gradient, residual, 1.0);
    auto [d_output, d_x] = norm_backward(residual, layer.normed_attention, layer.attention_norm, layer.output, is_last);
    at::Tensor d_context = at::empty_like(layer.attended.context);
    linear_backward(d_output, layer.attended.context, layer.output.weight, layer.output.weight_gradient, d_context,
                    0.0);
    return projection_backward(layer, d_context, d_x, is_last, h);
  }

  at::Tensor projection_backward(Layer& layer, const at::Tensor& d_context, at::Tensor d_x, bool is_last, int64_t h) {
    at::Tensor joint = at::empty_like(layer.joint_rows);
    const AttentionSettings settings = settings_of(is_last);
    Linear& projection = layer.joint;
    if (!is_last) {
      AttentionInput gradients{joint.slice(1, 0, h), joint.slice(1, h, 2 * h), joint.slice(1, 2 * h)};
      timed(kAttention, [&] { attention_backward(d_context, layer.projected, layer.attended, settings, gradients); });
      timed(kBiasSums, [&] { bias_backward(joint, projection.bias_gradient, 0.0); });
      linear_backward(joint, layer.x, projection.weight, projection.weight_gradient, d_x, 1.0);
      return d_x;
    }
    AttentionInput gradients{at::empty_like(layer.projected.query), joint.slice(1, 0, h), joint.slice(1, h)};
    timed(kAttention, [&] { attention_backward(d_context, layer.projected, layer.attended, settings, gradients); });
    timed(kBiasSums, [&] {
      at::Tensor query_bias = projection.bias_gradient.slice(0, 0, h), others = projection.bias_gradient.slice(0, h);
      bias_backward(gradients.query, query_bias, 0.0);
      bias_backward(joint, others, 0.0);
    });
    at::Tensor d_all = at::empty_like(layer.x);
    linear_backward(joint, layer.x, projection.weight.slice(0, h), projection.weight_gradient.slice(0, h), d_all, 0.0);
    linear_backward(gradients.query, layer.x_queries, projection.weight.slice(0, 0, h),
                    projection.weight_gradient.slice(0, 0, h), d_x, 1.0);
    d_all.index_add_(0, first_rows_, d_x);
    return d_all;
  }

  Shape shape_;
  Sequences sequences_, singles_;
  at::Tensor first_rows_;
  Dropout dropout_;
  TokenIds tokens_;
  EmbeddingTables tables_;
  Norm embedding_norm_;
  TouchedRows touched_;
  EmbeddingGradients embedding_gradients_;
  EmbeddingResult embedded_;
  std::vector<Layer> layers_;
  at::Tensor upstream_;
  std::array<double, kParts> parts_{};
  std::array<at::Tensor, 3> floor_buffers_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const Shape& shape, int rounds) {
  Encoder encoder(shape);
  for (int i = 0; i < 3; ++i) {
    encoder.step();
    encoder.gemm_floor();
  }
  std::vector<double> steps, floors;
  std::array<std::vector<double>, kParts> parts;
  for (int i = 0; i < rounds; ++i) {
    steps.push_back(encoder.step());
    for (size_t part = 0; part < kParts; ++part) {
      parts[part].push_back(encoder.parts()[part]);
    }
    floors.push_back(encoder.gemm_floor());
  }
  const int tokens = std::accumulate(shape.lengths.begin(), shape.lengths.end(), 0);
  fmt::print("{}: {} sequences, {} tokens: step {:.2f} ms, GEMM floor {:.2f} ms, share {:.1f} %\n", shape.name,
             shape.lengths.size(), tokens, median(steps), median(floors), 100.0 * median(floors) / median(steps));
  double known = 0.0;
  for (size_t part = 0; part < kParts; ++part) {
    fmt::print("  {:<10} {:8.2f} ms\n", kPartNames[part], median(parts[part]));
    known += median(parts[part]);
  }
  fmt::print("  {:<10} {:8.2f} ms\n", "other", median(steps) - known);
}

}  // namespace
}  // namespace bertft::ops

int main(int argc, char** argv) {
  using bertft::ops::Shape;
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  bertft::ops::measures_processor_time = threads == 1;
  const auto environment = bertft::ops::prepare_cpu(threads);
  fmt::print("{} threads, kernels {}, products by {}, MKL_CBWR {}, medians of {} rounds, {}\n", threads,
             bertft::instruction_set_name(bertft::instruction_set()), environment.products, environment.blas_mode,
             rounds, threads == 1 ? "processor time" : "wall clock");
  const std::string wanted = argc > 3 ? argv[3] : "";
  const std::vector<int32_t> short_texts = bertft::ops::short_texts();
  for (const Shape& shape : {Shape{"MiniLM-L6 short", 384, 1536, 12, 6, short_texts},
                             Shape{"MiniLM-L6 long", 384, 1536, 12, 6, {512, 512, 512, 512}},
                             Shape{"BERT-base short", 768, 3072, 12, 12, short_texts}}) {
    if (shape.name.find(wanted) != std::string::npos) bertft::ops::measure(shape, rounds);
  }
}
