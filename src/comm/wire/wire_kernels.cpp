#include "comm/wire/wire_kernels.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "core/error.h"

namespace bertft::wire {

namespace scalar {
extern const WireKernels kTable;
}
#ifdef BERTFT_X86_WIRE
namespace avx2 {
extern const WireKernels kTable;
}
namespace avx512 {
extern const WireKernels kTable;
}
#endif

InstructionSet wire_level() {
  static const InstructionSet level = [] {
#ifdef BERTFT_X86_WIRE
    __builtin_cpu_init();
    if (__builtin_cpu_supports("f16c")) return instruction_set();
#endif
    return InstructionSet::kScalar;
  }();
  return level;
}

const WireKernels& kernels_of(InstructionSet level) {
  check(level <= wire_level(), "kernels of an instruction set that this processor does not have");
#ifdef BERTFT_X86_WIRE
  if (level == InstructionSet::kAvx512) return avx512::kTable;
  if (level == InstructionSet::kAvx2) return avx2::kTable;
#endif
  return scalar::kTable;
}

#if defined(__SSE__)
namespace {
constexpr unsigned kDefaultState = 0x1f80;  // all exceptions masked, round to nearest, denormals kept
}
IeeeArithmetic::IeeeArithmetic() : saved_(_mm_getcsr()) { _mm_setcsr(kDefaultState); }
IeeeArithmetic::~IeeeArithmetic() { _mm_setcsr(saved_); }
#else
IeeeArithmetic::IeeeArithmetic() = default;
IeeeArithmetic::~IeeeArithmetic() = default;
#endif

}  // namespace bertft::wire
