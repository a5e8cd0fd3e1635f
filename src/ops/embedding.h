// The input of a BERT encoder in one pass: dropout(LayerNorm(word + position + token type)) (Devlin et al. 2018, 3).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ops/dropout.h"
#include "ops/residual_norm.h"
#include "ops/sequences.h"

namespace bertft::ops {

// What each of the T rows looks up; plain host data. Every id is below the number of rows of its table.
struct TokenIds {
  std::vector<int32_t> word, position, token_type;  // [T] each
};

struct EmbeddingTables {
  at::Tensor word;        // [V, H]
  at::Tensor position;    // [P, H]
  at::Tensor token_type;  // [types, H]
};

struct EmbeddingResult {
  at::Tensor output;  // [T, H]
  at::Tensor sum;     // [T, H]: what was normalized
  at::Tensor mean;    // [T]
  at::Tensor rstd;    // [T]
};

EmbeddingResult embedding_norm_dropout(const TokenIds& tokens, const EmbeddingTables& tables,
                                       const NormParameters& norm, const Sequences& sequences, const Dropout& dropout);

// The gradient of a lookup table is zero outside the rows listed here, so that clearing it costs what was used.
struct TouchedRows {
  std::vector<int32_t> rows;  // ascending, each once
};

struct EmbeddingGradients {
  at::Tensor word, position, token_type;  // like the tables
  TouchedRows* word_rows = nullptr;       // rows of `word` that may be non-zero; kept up to date
  at::Tensor norm_weight, norm_bias;      // [H]
  double beta = 0.0;                      // 0: all destinations are overwritten; 1: added to
};

// With beta = 0 the rows of `word` in word_rows are cleared first and all of position and token_type is overwritten.
// Contributions to one row are added in the order of the tokens, whatever the number of threads.
void embedding_norm_dropout_backward(const at::Tensor& output_gradient, const TokenIds& tokens,
                                     const EmbeddingResult& result, const NormParameters& norm,
                                     const Sequences& sequences, const Dropout& dropout, EmbeddingGradients& gradients);

}  // namespace bertft::ops
