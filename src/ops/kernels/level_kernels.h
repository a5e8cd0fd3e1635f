// The functions behind one level's table; see kernel_table.h for their meaning.
#pragma once

#include "ops/kernels/kernel_table.h"

namespace bertft::ops::BERTFT_KERNEL_LEVEL {

void bias_gelu(int64_t rows, int64_t width, Matrix x, const float* bias, Matrix y);
void gelu_backward(int64_t rows, int64_t width, Matrix dy, ConstMatrix u);
void column_sums(int64_t rows, int64_t width, ConstMatrix x, float beta, float* sums);
void residual_norm(const ResidualNormForward& call);
void residual_norm_backward(const ResidualNormBackward& call);
void embedding_norm(const EmbeddingForward& call);
void embedding_norm_backward(const NormBackward& call);
void scatter_rows(const RowScatter& call);
void attention(const AttentionForward& call);
void attention_backward(const AttentionBackward& call);
int64_t product_scratch_floats(int64_t columns, int64_t depth, int64_t threads);
void multiply_matrices(const MatrixProduct& call);

}  // namespace bertft::ops::BERTFT_KERNEL_LEVEL
