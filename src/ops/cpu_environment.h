// Prepares this process for fast and repeatable arithmetic on the CPU.
#pragma once

#include <string>

namespace bertft::ops {

// What was set, for the start-up table.
struct CpuEnvironment {
  int threads = 1;
  std::string blas_mode;  // MKL_CBWR, as the user or this function set it
  std::string products;   // what multiplies fp32 matrices: "own" kernels or the "blas"
};

// Sets the number of OpenMP, BLAS and ATen threads, flushes denormal numbers to zero in every one of them (moments of
// the optimizer that decay into denormals slow it tenfold), and makes the BLAS repeat its bits from run to run.
// The variables MKL_CBWR and MKL_DYNAMIC are left alone where the user has set them. main() calls this once, before any
// tensor operation, on the thread that will run them. REQUIRES threads >= 1.
CpuEnvironment prepare_cpu(int threads);

}  // namespace bertft::ops
