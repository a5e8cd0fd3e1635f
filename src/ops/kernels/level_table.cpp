// One level's table of kernels.
#include "ops/kernels/level_kernels.h"

namespace bertft::ops::BERTFT_KERNEL_LEVEL {

extern const CpuKernels kTable;
const CpuKernels kTable = {bias_gelu,
                           gelu_backward,
                           column_sums,
                           residual_norm,
                           residual_norm_backward,
                           embedding_norm,
                           embedding_norm_backward,
                           scatter_rows,
                           attention,
                           attention_backward,
                           product_scratch_floats,
                           multiply_matrices};

}  // namespace bertft::ops::BERTFT_KERNEL_LEVEL
