#include "ops/embedding.h"

#include <algorithm>

#include "core/error.h"
#include "ops/aten_path.h"
#include "ops/implementation.h"
#include "ops/shapes.h"

namespace bertft::ops {
namespace {

void check_ids(const std::vector<int32_t>& ids, const Sequences& sequences, int64_t table_rows) {
  check(static_cast<int64_t>(ids.size()) == sequences.rows(), "embedding: one id per row and table");
  const auto outside = [table_rows](int32_t id) { return id < 0 || id >= table_rows; };
  check(std::none_of(ids.begin(), ids.end(), outside), "embedding: every id is below the number of rows of its table");
}

void check_tables(const TokenIds& tokens, const Sequences& sequences, const EmbeddingTables& tables, int64_t width) {
  const auto check_table = [&](const at::Tensor& table, const std::vector<int32_t>& ids, const char* name) {
    check(table.defined() && table.dim() == 2, "embedding: tables are matrices");
    check_matrix(table, table.size(0), width, tables.word, name);
    check_ids(ids, sequences, table.size(0));
  };
  check_table(tables.word, tokens.word, "word");
  check_table(tables.position, tokens.position, "position");
  check_table(tables.token_type, tokens.token_type, "token_type");
}

std::vector<int32_t> distinct(std::vector<int32_t> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// Clears what an earlier pass left in the gradient of the word table and records the rows that this one touches.
void prepare_word_gradient(const TokenIds& tokens, EmbeddingGradients& gradients) {
  TouchedRows* touched = gradients.word_rows;
  if (gradients.beta == 0.0) {
    if (touched == nullptr) {
      gradients.word.zero_();
    } else {
      for (const int32_t row : touched->rows) {
        gradients.word.select(0, row).zero_();
      }
      touched->rows.clear();
    }
  }
  if (touched == nullptr) return;
  std::vector<int32_t> rows = touched->rows;
  rows.insert(rows.end(), tokens.word.begin(), tokens.word.end());
  touched->rows = distinct(std::move(rows));
}

}  // namespace

EmbeddingResult embedding_norm_dropout(const TokenIds& tokens, const EmbeddingTables& tables,
                                       const NormParameters& norm, const Sequences& sequences, const Dropout& dropout) {
  check_sequences(sequences);
  check_dropout(dropout, sequences);
  check(tables.word.defined() && tables.word.dim() == 2, "embedding: tables are matrices");
  const int64_t width = tables.word.size(1);
  check_tables(tokens, sequences, tables, width);
  check_vector(norm.weight, width, tables.word, "norm.weight");
  check_vector(norm.bias, width, tables.word, "norm.bias");
  return aten::embedding_norm_dropout(tokens, tables, norm, sequences, dropout);
}

void embedding_norm_dropout_backward(const at::Tensor& output_gradient, const TokenIds& tokens,
                                     const EmbeddingResult& result, const NormParameters& norm,
                                     const Sequences& sequences, const Dropout& dropout,
                                     EmbeddingGradients& gradients) {
  check_sequences(sequences);
  check_dropout(dropout, sequences);
  check(output_gradient.defined() && output_gradient.dim() == 2, "output_gradient is a matrix");
  check(gradients.beta == 0.0 || gradients.beta == 1.0, "embedding gradients are overwritten or added to");
  const at::Tensor& like = output_gradient;
  const int64_t rows = sequences.rows(), width = like.size(1);
  check_matrix(output_gradient, rows, width, like, "output_gradient");
  check_matrix(result.sum, rows, width, like, "result.sum");
  check_vector(result.mean, rows, like, "result.mean");
  check_vector(result.rstd, rows, like, "result.rstd");
  check_vector(norm.weight, width, like, "norm.weight");
  check_vector(gradients.norm_weight, width, like, "gradients.norm_weight");
  check_vector(gradients.norm_bias, width, like, "gradients.norm_bias");
  check_tables(tokens, sequences, {gradients.word, gradients.position, gradients.token_type}, width);
  prepare_word_gradient(tokens, gradients);
  aten::embedding_norm_dropout_backward(output_gradient, tokens, result, norm, sequences, dropout, gradients);
}

}  // namespace bertft::ops
