// What is exchanged in a benchmark: a flat buffer of some size, or the gradients of a model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/layout.h"

namespace bertft {

struct Payload {
  std::string name;                    // "64K", "bert-base", the path of a file
  std::vector<ParameterSpec> tensors;  // in the order in which backward finishes them

  int64_t parameters() const;                         // elements, without the gaps of the alignment
  int64_t bytes() const { return parameters() * 4; }  // of fp32
  int64_t summed_bytes() const;                       // with the gaps
};

// One tensor of `bytes` bytes, a multiple of 4.
Payload flat_payload(int64_t bytes);

// The parameters of a published BERT with its pooler and no other head, in the order in which backward finishes them:
// "bert-base" (12 layers, width 768), "bert-small" (4, 512) or "minilm" (6, 384), uncased vocabulary. Anything else is
// a file with one parameter a line, NAME and SHAPE (768x3072), in that order; blank lines and lines with # are left
// out. Throws ConfigError for a name that is neither, and DataError with file and line for a bad line.
std::vector<ParameterSpec> model_shapes(const std::string& name);
Payload model_payload(const std::string& name);

}  // namespace bertft
