#include "ops/cpu_environment.h"

#include <ATen/Parallel.h>
#include <omp.h>

#include <cstdlib>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "core/error.h"
#include "ops/matrix_product.h"

namespace bertft::ops {
namespace {

void flush_denormals() {
#if defined(__SSE__)
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
#endif
}

// The value of MKL_CBWR that makes results independent of alignment and threads at full speed: on Intel the branch of
// the processor, named, in strict mode; elsewhere MKL takes named branches for AUTO, and AUTO is already independent.
const char* repeatable_blas_mode() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_is("intel")) {
    if (__builtin_cpu_supports("avx512f")) return "AVX512,STRICT";
    if (__builtin_cpu_supports("avx2")) return "AVX2,STRICT";
  }
#endif
  return "AUTO";
}

}  // namespace

CpuEnvironment prepare_cpu(int threads) {
  check(threads >= 1, "prepare_cpu needs at least one thread");
  constexpr int kKeepTheUsers = 0;
  setenv("MKL_DYNAMIC", "FALSE", kKeepTheUsers);
  setenv("MKL_CBWR", repeatable_blas_mode(), kKeepTheUsers);
  omp_set_num_threads(threads);
  at::set_num_threads(threads);
#pragma omp parallel num_threads(threads)
  flush_denormals();
  return {threads, std::getenv("MKL_CBWR"), product_library_name(product_library())};
}

}  // namespace bertft::ops
