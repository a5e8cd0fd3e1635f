#include "ops/kernels/cpu_kernels.h"

namespace bertft::ops {

namespace scalar {
extern const CpuKernels kTable;
}
#ifdef BERTFT_X86_KERNELS
namespace avx2 {
extern const CpuKernels kTable;
}
namespace avx512 {
extern const CpuKernels kTable;
}
#endif

namespace {

const CpuKernels* table_of([[maybe_unused]] InstructionSet level) {
#ifdef BERTFT_X86_KERNELS
  if (level == InstructionSet::kAvx512) return &avx512::kTable;
  if (level == InstructionSet::kAvx2) return &avx2::kTable;
#endif
  return &scalar::kTable;
}

const CpuKernels*& current_table() {
  static const CpuKernels* table = table_of(instruction_set());
  return table;
}

}  // namespace

const CpuKernels& cpu_kernels() { return *current_table(); }

void use_kernel_level(InstructionSet level) { current_table() = table_of(level); }

}  // namespace bertft::ops
