// The arithmetic of one AdamW update over a range of the flat buffers: a kernel of our own for the CPU. Tests compare
// it with optim/adamw_aten.h.
#pragma once

#include <cstdint>
#include <span>

namespace bertft {

// The constants of one step, in the type of the arithmetic:
//   g' = scale g;  m = m + (1 - beta1) (g' - m);  v = beta2 v + (1 - beta2) g'^2
//   w = keep w - step_size m / (sqrt(v) / root_correction + epsilon)
template <typename T>
struct AdamWConstants {
  T beta2, epsilon;
  T share1, share2;  // 1 - beta1 and 1 - beta2, subtracted in double precision: 1 - 0.999f is off by 5e-5
  T gradient_scale;
  T step_size;        // learning rate / first bias correction
  T root_correction;  // sqrt of the second bias correction
  T keep;             // 1 - learning rate * weight decay
};

// Updates `count` elements of weights and both moments in place. Every element is computed alike, whatever the number
// of threads.
void adamw_update(float* w, const float* g, float* m, float* v, int64_t count, const AdamWConstants<float>& c);
void adamw_update(double* w, const double* g, double* m, double* v, int64_t count, const AdamWConstants<double>& c);

// The same for single rows (ascending, each once) of four tables of that width.
void adamw_update_rows(float* w, const float* g, float* m, float* v, int64_t width, std::span<const int32_t> rows,
                       const AdamWConstants<float>& c);
void adamw_update_rows(double* w, const double* g, double* m, double* v, int64_t width, std::span<const int32_t> rows,
                       const AdamWConstants<double>& c);

}  // namespace bertft
