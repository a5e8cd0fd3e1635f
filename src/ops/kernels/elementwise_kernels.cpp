// Bias and GELU, the gradient of GELU, and column sums.
#include "ops/kernels/level_kernels.h"
#include "ops/kernels/vector_math.h"

namespace bertft::ops::BERTFT_KERNEL_LEVEL {
namespace {

// 1 / sqrt(2 pi)
constexpr float kDensityScale = 0.398942280f;

BERTFT_INLINE Float gelu(Float u) { return u * normal_distribution(u).cumulative; }

// gelu'(u) = Phi(u) + u phi(u)
BERTFT_INLINE Float gelu_slope(Float u) {
  const Normal normal = normal_distribution(u);
  return multiply_add(u * broadcast(kDensityScale), normal.exponential, normal.cumulative);
}

void bias_gelu_row(int64_t width, float* x, const float* bias, float* y) {
  for_each_vector(width, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
    const Float u = load(x + c, lanes) + load(bias + c, lanes);
    store(x + c, u, lanes);
    store(y + c, gelu(u), lanes);
  });
}

void gelu_backward_row(int64_t width, float* dy, const float* u) {
  for_each_vector(width, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
    store(dy + c, load(dy + c, lanes) * gelu_slope(load(u + c, lanes)), lanes);
  });
}

// Sums of kVectors vectors of columns, block of rows by block of rows.
template <int kVectors>
BERTFT_INLINE void sum_columns(int64_t rows, ConstMatrix x, float beta, float* sums) {
  Float total[kVectors] = {};
  for (int64_t begin = 0; begin < rows; begin += kRowsPerBlock) {
    const int64_t end = begin + kRowsPerBlock < rows ? begin + kRowsPerBlock : rows;
    Float block[kVectors] = {};
    for (int64_t row = begin; row < end; ++row) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        block[v] += load(x.data + row * x.stride + v * kWidth);
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      total[v] += block[v];
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    if (beta != 0.0f) total[v] = multiply_add(broadcast(beta), load(sums + v * kWidth), total[v]);
    store(sums + v * kWidth, total[v]);
  }
}

void sum_column(int64_t rows, ConstMatrix x, float beta, float* sum) {
  float total = 0.0f;
  for (int64_t begin = 0; begin < rows; begin += kRowsPerBlock) {
    const int64_t end = begin + kRowsPerBlock < rows ? begin + kRowsPerBlock : rows;
    float block = 0.0f;
    for (int64_t row = begin; row < end; ++row) {
      block += x.data[row * x.stride];
    }
    total += block;
  }
  *sum = beta != 0.0f ? beta * *sum + total : total;
}

}  // namespace

void bias_gelu(int64_t rows, int64_t width, Matrix x, const float* bias, Matrix y) {
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    bias_gelu_row(width, x.data + row * x.stride, bias, y.data + row * y.stride);
  }
}

void gelu_backward(int64_t rows, int64_t width, Matrix dy, ConstMatrix u) {
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    gelu_backward_row(width, dy.data + row * dy.stride, u.data + row * u.stride);
  }
}

void column_sums(int64_t rows, int64_t width, ConstMatrix x, float beta, float* sums) {
  constexpr int kVectors = 64 / kWidth;
  constexpr int64_t kColumns = 64;
  const int64_t chunks = (width + kColumns - 1) / kColumns;
#pragma omp parallel for schedule(static)
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t end = chunk * kColumns + kColumns < width ? chunk * kColumns + kColumns : width;
    int64_t c = chunk * kColumns;
    if (c + kColumns <= end) {
      sum_columns<kVectors>(rows, {x.data + c, x.stride}, beta, sums + c);
      continue;
    }
    for (; c + kWidth <= end; c += kWidth) {
      sum_columns<1>(rows, {x.data + c, x.stride}, beta, sums + c);
    }
    for (; c < end; ++c) {
      sum_column(rows, {x.data + c, x.stride}, beta, sums + c);
    }
  }
}

}  // namespace bertft::ops::BERTFT_KERNEL_LEVEL
