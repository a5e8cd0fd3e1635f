// The arithmetic of one LAMB update over a block of one parameter: kernels of our own for the CPU.
#pragma once

#include <cstdint>

namespace bertft {

// The constants of one step and one parameter, in the type of the arithmetic:
//   g' = scale g;  m = m + (1 - beta1) (g' - m);  v = beta2 v + (1 - beta2) g'^2
//   u = (m / correction) / (sqrt(v) / root_correction + epsilon) + decay w
//   w = w - rate ratio u
template <typename T>
struct LambConstants {
  T beta2, epsilon;
  T share1, share2;  // 1 - beta1 and 1 - beta2, subtracted in double precision
  T gradient_scale, decay;
  T correction;       // of the first moment
  T root_correction;  // sqrt of the second bias correction
};

struct SquareSums {
  double weights = 0.0;
  double directions = 0.0;
};

// Updates both moments of `count` elements; returns the squared norms of their weights and directions, summed in double
// in an order that does not depend on the width of vectors.
SquareSums lamb_moments(const float* w, const float* g, float* m, float* v, int64_t count,
                        const LambConstants<float>& c);
SquareSums lamb_moments(const double* w, const double* g, double* m, double* v, int64_t count,
                        const LambConstants<double>& c);

// w = w - rate u, with the moments that lamb_moments() left.
void lamb_move(float* w, const float* m, const float* v, int64_t count, float rate, const LambConstants<float>& c);
void lamb_move(double* w, const double* m, const double* v, int64_t count, double rate, const LambConstants<double>& c);

}  // namespace bertft
