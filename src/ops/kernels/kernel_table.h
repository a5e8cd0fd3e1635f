// The kernels of the CPU as one table of functions over raw pointers and sizes. No torch and no standard containers:
// the files that implement it are compiled once per instruction set, and an inline function of the standard library
// compiled for AVX-512 could be the copy that the linker keeps for all.
#pragma once

#include <cstdint>

namespace bertft::ops {

// Rows of `width` floats, `stride` floats apart.
struct Matrix {
  float* data;
  int64_t stride;
};
struct ConstMatrix {
  const float* data;
  int64_t stride;
};

// How rows divide into sequences, see ops/sequences.h.
struct RowRanges {
  const int32_t* offsets;  // [count + 1]
  int64_t count;
};

// Counter-based dropout, see ops/dropout.h.
struct DropoutStream {
  const uint64_t* keys;  // one per sequence; null when not active
  uint32_t threshold;
  float scale;  // 1 / (1 - probability)
};

struct NormForward {
  int64_t rows, width;
  const float* weight;  // [width]
  const float* bias;    // [width]
  double epsilon;
  RowRanges ranges;
  DropoutStream dropout;
  Matrix sum;  // what is normalized
  Matrix output;
  float* mean;  // [rows]
  float* rstd;  // [rows]
};

// sum = residual + dropout(x + bias); output = norm(sum). sum may be x.
struct ResidualNormForward {
  NormForward norm;
  ConstMatrix x, residual;
  const float* bias;
};

// sum = word + position + token type; output = dropout(norm(sum)).
struct EmbeddingForward {
  NormForward norm;
  ConstMatrix word, position, token_type;
  const int32_t *word_ids, *position_ids, *token_type_ids;
};

// Column sums are made of partial sums over blocks of this many rows, so that they do not depend on the threads.
constexpr int64_t kRowsPerBlock = 32;

struct NormBackward {
  int64_t rows, width;
  ConstMatrix output_gradient, sum;
  const float *mean, *rstd, *weight;
  RowRanges ranges;
  DropoutStream dropout;
  float* partial_sums;  // scratch: norm_scratch_floats(rows, width)
  float *weight_gradient, *bias_gradient;
  float beta;
  Matrix sum_gradient;
};

// Floats of scratch that the two backward passes of a norm need: three rows for each block of rows.
constexpr int64_t norm_scratch_floats(int64_t rows, int64_t width) {
  return 3 * width * ((rows + kRowsPerBlock - 1) / kRowsPerBlock);
}

struct ResidualNormBackward {
  NormBackward norm;  // sum_gradient is the gradient of the residual
  Matrix x_gradient;
  float* added_bias_gradient;  // of the bias that was added to x
};

// Adds row t of `gradient` to row ids[t] of `table`, for t ascending.
struct RowScatter {
  ConstMatrix gradient;
  int64_t rows, width;
  const int32_t* ids;
  Matrix table;
};

struct AttentionShape {
  RowRanges ranges;
  int64_t heads, head_dim;
  int64_t query_rows;     // stride of log_sums
  bool first_query_only;  // query, context and log_sums hold one row per sequence
  DropoutStream dropout;
  float* scratch;  // one piece of attention_scratch_floats() for each thread, 64-byte aligned
  int64_t scratch_floats;
};

struct AttentionForward {
  AttentionShape shape;
  Matrix query, key, value;  // biases are added in place
  const float *query_bias, *key_bias, *value_bias;
  Matrix context;
  float* log_sums;  // [heads, query_rows]
};

struct AttentionBackward {
  AttentionShape shape;
  ConstMatrix query, key, value, context, context_gradient;
  const float* log_sums;
  Matrix query_gradient, key_gradient, value_gradient;
};

// Floats of scratch per thread: two transposed panels [head_dim, length] and two blocks [kQueriesPerBlock, length], the
// length rounded up to whole vectors of any instruction set, and room for one block's row statistics.
constexpr int64_t kQueriesPerBlock = 32;
constexpr int64_t attention_scratch_floats(int64_t max_length, int64_t head_dim) {
  return (2 * head_dim + 2 * kQueriesPerBlock) * ((max_length + 15) / 16 * 16) + 2 * kQueriesPerBlock;
}

// c = op(a) op(b) + beta c with op(a) [rows, depth], op(b) [depth, columns], c [rows, columns], none of them 0. op
// transposes or not. With beta = 0 c is not read.
struct MatrixProduct {
  int64_t rows, columns, depth;
  ConstMatrix a, b;
  bool a_transposed, b_transposed;
  float beta;
  Matrix c;
  float* scratch;  // product_scratch_floats(columns, depth, threads), 64-byte aligned
};

struct CpuKernels {
  // x becomes u = x + bias; y = gelu(u).
  void (*bias_gelu)(int64_t rows, int64_t width, Matrix x, const float* bias, Matrix y);
  // dy becomes dy gelu'(u).
  void (*gelu_backward)(int64_t rows, int64_t width, Matrix dy, ConstMatrix u);
  // sums = column sums of x + beta sums.
  void (*column_sums)(int64_t rows, int64_t width, ConstMatrix x, float beta, float* sums);
  void (*residual_norm)(const ResidualNormForward& call);
  void (*residual_norm_backward)(const ResidualNormBackward& call);
  void (*embedding_norm)(const EmbeddingForward& call);
  void (*embedding_norm_backward)(const NormBackward& call);
  void (*scatter_rows)(const RowScatter& call);
  void (*attention)(const AttentionForward& call);
  void (*attention_backward)(const AttentionBackward& call);
  int64_t (*product_scratch_floats)(int64_t columns, int64_t depth, int64_t threads);
  void (*multiply_matrices)(const MatrixProduct& call);
};

}  // namespace bertft::ops
