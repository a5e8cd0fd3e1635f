#include "optim/kernels/adamw_update.h"

#include <algorithm>
#include <cmath>

#include "optim/flat_blocks.h"

namespace bertft {
namespace {

// Inlined into each clone below, so that it is compiled for that clone's instruction set.
template <typename T>
__attribute__((always_inline)) inline void update(T* w, const T* g, T* m, T* v, int64_t count,
                                                  const AdamWConstants<T>& c) {
  for (int64_t i = 0; i < count; ++i) {
    const T gradient = g[i] * c.gradient_scale;
    m[i] = m[i] + c.share1 * (gradient - m[i]);
    v[i] = c.beta2 * v[i] + c.share2 * gradient * gradient;
    const T denominator = std::sqrt(v[i]) / c.root_correction + c.epsilon;
    w[i] = w[i] * c.keep - c.step_size * (m[i] / denominator);
  }
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void update_block(float* w, const float* g, float* m,
                                                                               float* v, int64_t count,
                                                                               const AdamWConstants<float>& c) {
  update(w, g, m, v, count, c);
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void update_block(double* w, const double* g, double* m,
                                                                               double* v, int64_t count,
                                                                               const AdamWConstants<double>& c) {
  update(w, g, m, v, count, c);
}

template <typename T>
void update_in_blocks(T* w, const T* g, T* m, T* v, int64_t count, const AdamWConstants<T>& c) {
  for_each_block(count, [&](int64_t at, int64_t size) { update_block(w + at, g + at, m + at, v + at, size, c); });
}

constexpr int64_t kRowsAPiece = 64;

// Rows that are neighbours are updated as one range.
template <typename T>
void update_rows(T* w, const T* g, T* m, T* v, int64_t width, std::span<const int32_t> rows,
                 const AdamWConstants<T>& c) {
  const auto count = static_cast<int64_t>(rows.size());
  const int64_t pieces = (count + kRowsAPiece - 1) / kRowsAPiece;
#pragma omp parallel for schedule(static)
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int64_t end = std::min(count, (piece + 1) * kRowsAPiece);
    for (int64_t first = piece * kRowsAPiece; first < end;) {
      int64_t next = first + 1;
      while (next < end && rows[static_cast<size_t>(next)] == rows[static_cast<size_t>(next - 1)] + 1) ++next;
      const int64_t at = rows[static_cast<size_t>(first)] * width;
      update_block(w + at, g + at, m + at, v + at, (next - first) * width, c);
      first = next;
    }
  }
}

}  // namespace

void adamw_update(float* w, const float* g, float* m, float* v, int64_t count, const AdamWConstants<float>& c) {
  update_in_blocks(w, g, m, v, count, c);
}

void adamw_update(double* w, const double* g, double* m, double* v, int64_t count, const AdamWConstants<double>& c) {
  update_in_blocks(w, g, m, v, count, c);
}

void adamw_update_rows(float* w, const float* g, float* m, float* v, int64_t width, std::span<const int32_t> rows,
                       const AdamWConstants<float>& c) {
  update_rows(w, g, m, v, width, rows, c);
}

void adamw_update_rows(double* w, const double* g, double* m, double* v, int64_t width, std::span<const int32_t> rows,
                       const AdamWConstants<double>& c) {
  update_rows(w, g, m, v, width, rows, c);
}

}  // namespace bertft
