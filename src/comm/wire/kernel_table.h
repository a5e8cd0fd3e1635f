// The kernels of one instruction set as a table of functions over raw pointers. No standard containers: an inline
// function of the standard library compiled for AVX-512 could be the copy that the linker keeps for all.
#pragma once

#include <cstdint>

namespace bertft::wire {

// All levels give the same bits, but for the payload of a sum of two NaNs. `n` elements each; any alignment.
struct WireKernels {
  // out[i] = ((sources[0][i] + sources[1][i]) + sources[2][i]) + ...; count >= 1; out may be one of the sources.
  // True when a result is no finite number.
  bool (*sum)(const float* const* sources, int count, int64_t n, float* out);
  bool (*sum_doubles)(const double* const* sources, int count, int64_t n, double* out);
  // The same into several outputs, any of which may be a source. Ends before the first few elements (64 at most) with a
  // result that is no finite number, whose sources are then as they were; returns how many were written: n when all
  // are finite.
  int64_t (*sum_into)(const float* const* sources, int count, int64_t n, float* const* outputs, int output_count);
  int64_t (*sum_doubles_into)(const double* const* sources, int count, int64_t n, double* const* outputs,
                              int output_count);
  // The largest magnitude; infinity when an element is not finite; 0 for n = 0.
  float (*largest)(const float* x, int64_t n);
  // out[i] = half(x[i] * scale), rounded to nearest even, NaN kept (quiet). True when a result is Inf or NaN.
  bool (*to_fp16)(const float* x, int64_t n, float scale, uint16_t* out);
  // out[i] = float(x[i]) * scale.
  void (*from_fp16)(const uint16_t* x, int64_t n, float scale, float* out);
  // The same for bf16, without a scale: it has the exponents of fp32.
  bool (*to_bf16)(const float* x, int64_t n, uint16_t* out);
  void (*from_bf16)(const uint16_t* x, int64_t n, float* out);
};

}  // namespace bertft::wire
