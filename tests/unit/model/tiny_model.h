// A random encoder with the classification head, small enough for finite differences, and passes over made-up rows.
// Knows torch: include before tests/support/test.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/encoder.h"
#include "model/parameter_store.h"
#include "model/sequence_head.h"

namespace bertft::test {

// 2 layers, hidden 8, 2 heads, intermediate 12, 11 words, 9 positions; all dropouts 0.
EncoderConfig tiny_config();

constexpr int64_t kTinyLabels = 3;

struct TinyModel {
  explicit TinyModel(const EncoderConfig& tiny, at::ScalarType type = at::kDouble);

  EncoderConfig config;
  ParameterStore store;  // normal values; LayerNorm weights near 1
  Encoder encoder;
  SequenceHead head;

  at::Tensor logits(const ForwardPassPtr& pass) const;  // [S, kTinyLabels]
};

// A made-up sequence: its ids depend on row and part alone, the second half has token type 1.
struct TinyRow {
  int64_t row = 0;
  int32_t length = 0;
  int32_t part = 0;
};

ForwardPassPtr tiny_pass(const std::vector<TinyRow>& rows, bool is_training, int64_t step = 1);

// Fixed numbers of the given sizes, for losses of the form sum(output * weights).
at::Tensor fixed_weights(at::IntArrayRef sizes, uint64_t seed, at::ScalarType type = at::kDouble);

// The row of `fixed_weights` that belongs to a row of the data, whatever the pass: [S, columns].
at::Tensor weights_by_row(const ForwardPass& pass, int64_t columns, at::ScalarType type = at::kDouble);

// One step of a single micro-batch: zeroes the books, runs `loss_gradient` backward through `output`, fills the rest.
void backward_once(ParameterStore& store, const at::Tensor& output, const at::Tensor& loss_gradient);

// max |a - b| / (1 + max |b|).
double distance(const at::Tensor& a, const at::Tensor& b);

}  // namespace bertft::test
