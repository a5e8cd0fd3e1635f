// The sum of squares of a block of a flat buffer: what gradient norms are made of.
#pragma once

#include <cstdint>

namespace bertft {

// Summed in double, in an order that depends neither on threads nor on the width of vectors.
double square_sum(const float* values, int64_t count);
double square_sum(const double* values, int64_t count);

}  // namespace bertft
