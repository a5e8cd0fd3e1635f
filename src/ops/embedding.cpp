#include "ops/embedding.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/profile.h"
#include "ops/aten_path.h"
#include "ops/implementation.h"
#include "ops/kernels/cpu_kernels.h"
#include "ops/raw.h"
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

// Rows of a table on the CPU are cleared without the overhead of an ATen call for each.
void clear_rows(at::Tensor& table, const std::vector<int32_t>& rows) {
  for (const int32_t row : rows) {
    if (table.device().is_cpu()) {
      const auto row_bytes = static_cast<int64_t>(table.element_size());
      std::memset(static_cast<char*>(table.mutable_data_ptr()) + row * table.stride(0) * row_bytes, 0,
                  static_cast<size_t>(table.size(1) * row_bytes));
    } else {
      table.select(0, row).zero_();
    }
  }
}

// Clears what an earlier pass left in the gradient of the word table and records the rows that this one touches.
void prepare_word_gradient(const TokenIds& tokens, EmbeddingGradients& gradients) {
  TouchedRows* touched = gradients.word_rows;
  if (gradients.beta == 0.0) {
    if (touched == nullptr) {
      gradients.word.zero_();
    } else {
      clear_rows(gradients.word, touched->rows);
      touched->rows.clear();
    }
  }
  if (touched == nullptr) return;
  std::vector<int32_t> rows = touched->rows;
  rows.insert(rows.end(), tokens.word.begin(), tokens.word.end());
  touched->rows = distinct(std::move(rows));
}

// The gradient of the summed embeddings, [T, H].
at::Tensor norm_backward(const at::Tensor& output_gradient, const EmbeddingResult& result, const NormParameters& norm,
                         const Sequences& sequences, const Dropout& dropout, EmbeddingGradients& gradients) {
  const int64_t rows = output_gradient.size(0), width = output_gradient.size(1);
  at::Tensor sum_gradient = at::empty({rows, width}, output_gradient.options());
  const at::Tensor scratch = at::empty({norm_scratch_floats(rows, width)}, output_gradient.options());
  const NormBackward call = {.rows = rows,
                             .width = width,
                             .output_gradient = const_matrix(output_gradient),
                             .sum = const_matrix(result.sum),
                             .mean = const_vector(result.mean),
                             .rstd = const_vector(result.rstd),
                             .weight = const_vector(norm.weight),
                             .ranges = row_ranges(sequences),
                             .dropout = dropout_stream(dropout),
                             .partial_sums = vector(scratch),
                             .weight_gradient = vector(gradients.norm_weight),
                             .bias_gradient = vector(gradients.norm_bias),
                             .beta = static_cast<float>(gradients.beta),
                             .sum_gradient = matrix(sum_gradient)};
  cpu_kernels().embedding_norm_backward(call);
  return sum_gradient;
}

void scatter(const at::Tensor& gradient, const std::vector<int32_t>& ids, at::Tensor& table) {
  cpu_kernels().scatter_rows({const_matrix(gradient), gradient.size(0), gradient.size(1), ids.data(), matrix(table)});
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
  const ProfileScope scope("embeddings + LayerNorm + dropout");
  if (!use_own_kernels(tables.word)) return aten::embedding_norm_dropout(tokens, tables, norm, sequences, dropout);
  const int64_t rows = sequences.rows();
  const auto options = tables.word.options();
  EmbeddingResult result{at::empty({rows, width}, options), at::empty({rows, width}, options),
                         at::empty({rows}, options), at::empty({rows}, options)};
  EmbeddingForward call{};
  call.norm = {.rows = rows,
               .width = width,
               .weight = const_vector(norm.weight),
               .bias = const_vector(norm.bias),
               .epsilon = norm.epsilon,
               .ranges = row_ranges(sequences),
               .dropout = dropout_stream(dropout),
               .sum = matrix(result.sum),
               .output = matrix(result.output),
               .mean = vector(result.mean),
               .rstd = vector(result.rstd)};
  call.word = const_matrix(tables.word);
  call.position = const_matrix(tables.position);
  call.token_type = const_matrix(tables.token_type);
  call.word_ids = tokens.word.data();
  call.position_ids = tokens.position.data();
  call.token_type_ids = tokens.token_type.data();
  cpu_kernels().embedding_norm(call);
  return result;
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
  const ProfileScope scope("embeddings + LayerNorm + dropout, backward");
  prepare_word_gradient(tokens, gradients);
  if (!use_own_kernels(like)) {
    return aten::embedding_norm_dropout_backward(output_gradient, tokens, result, norm, sequences, dropout, gradients);
  }
  const at::Tensor sum_gradient = norm_backward(output_gradient, result, norm, sequences, dropout, gradients);
  if (gradients.beta == 0.0) {
    gradients.position.zero_();
    gradients.token_type.zero_();
  }
  scatter(sum_gradient, tokens.word, gradients.word);
  scatter(sum_gradient, tokens.position, gradients.position);
  scatter(sum_gradient, tokens.token_type, gradients.token_type);
}

}  // namespace bertft::ops
