// The head of BertForSequenceClassification: tanh of a dense layer on the [CLS] state (the pooler), dropout,
// classifier.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/config.h"
#include "model/forward_pass.h"
#include "model/linear_layer.h"
#include "model/parameter_store.h"

namespace bertft {

class SequenceHead {
 public:
  static void append_specs(const EncoderConfig& config, int64_t outputs, std::vector<ParameterSpec>& specs);

  SequenceHead(const EncoderConfig& config, ParameterStore& store);

  // first [S, H]: the encoder's state of the first token of every sequence -> [S, outputs]; differentiable.
  at::Tensor forward(const at::Tensor& first, const ForwardPass& pass) const;

 private:
  double dropout_;
  LinearLayer pooler_;
  LinearLayer classifier_;
};

}  // namespace bertft
