// Products of small matrices whose operands lie in the first-level cache, as attention needs them: register tiles of a
// few rows by one or two vectors of columns.
#pragma once

#include "ops/kernels/vector.h"

namespace bertft::ops::BERTFT_KERNEL_LEVEL {

// c = a b, or c += a b. Element (i, k) of a lies at a[i * a_row + k * a_depth]; b [depth, columns] and c [rows,
// columns] have contiguous rows. Row i of the result is multiplied by row_scale[i] where that is given.
struct Product {
  const float* a;
  int64_t a_row, a_depth;
  const float* b;
  int64_t b_stride;
  float* c;
  int64_t c_stride;
  int64_t rows, columns, depth;
  bool adds = false;
  const float* row_scale = nullptr;
};

#if defined(__AVX512F__)
constexpr int kMaxTileRows = 12;  // 32 registers
#else
constexpr int kMaxTileRows = 6;  // 16 registers
#endif

template <int kRows, int kVectors, typename LastLanes>
void multiply_tile(const Product& p, int64_t row, int64_t column, LastLanes last) {
  const float* a = p.a + row * p.a_row;
  const float* b = p.b + column;
  float* c = p.c + row * p.c_stride + column;
  Float sums[kRows][kVectors] = {};
  for (int64_t k = 0; k < p.depth; ++k) {
    Float bk[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v + 1 < kVectors; ++v) {
      bk[v] = load(b + k * p.b_stride + v * kWidth);
    }
    bk[kVectors - 1] = load(b + k * p.b_stride + (kVectors - 1) * kWidth, last);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Float aik = broadcast(a[i * p.a_row + k * p.a_depth]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = multiply_add(aik, bk[v], sums[i][v]);
      }
    }
  }
  const auto finish = [&](int i, int v, auto lanes) BERTFT_INLINE_BODY {
    float* to = c + i * p.c_stride + v * kWidth;
    Float x = sums[i][v];
    if (p.row_scale != nullptr) x *= broadcast(p.row_scale[row + i]);
    if (p.adds) x += load(to, lanes);
    store(to, x, lanes);
  };
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v + 1 < kVectors; ++v) {
      finish(i, v, AllLanes{});
    }
    finish(i, kVectors - 1, last);
  }
}

// Calls multiply_tile with the number of rows as a constant.
template <int kVectors, int kRows = kMaxTileRows, typename LastLanes>
void multiply_rows(const Product& p, int64_t row, int64_t rows, int64_t column, LastLanes last) {
  if (rows == kRows) return multiply_tile<kRows, kVectors>(p, row, column, last);
  if constexpr (kRows > 1) multiply_rows<kVectors, kRows - 1>(p, row, rows, column, last);
}

template <int kVectors, typename LastLanes>
void multiply_panel(const Product& p, int64_t column, LastLanes last) {
  const int64_t tiles = (p.rows + kMaxTileRows - 1) / kMaxTileRows;
  int64_t row = 0;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t rows = (p.rows - row) / (tiles - tile);  // as even as possible
    multiply_rows<kVectors>(p, row, rows, column, last);
    row += rows;
  }
}

static inline void multiply(const Product& p) {
  constexpr int64_t kPair = 2 * kWidth;
  int64_t column = 0;
  for (; column + kPair <= p.columns; column += kPair) {
    multiply_panel<2>(p, column, AllLanes{});
  }
  const int64_t left = p.columns - column;
  if (left == 0) return;
  if (left > kWidth) return multiply_panel<2>(p, column, SomeLanes{left - kWidth});
  if (left == kWidth) return multiply_panel<1>(p, column, AllLanes{});
  multiply_panel<1>(p, column, SomeLanes{left});
}

}  // namespace bertft::ops::BERTFT_KERNEL_LEVEL
