// Sums and casts of gradients, by the best instruction set of this machine. They compute as IEEE 754 says whatever the
// calling thread does with denormal numbers, so compute and communication threads get the same bits.
#pragma once

#include "comm/wire/kernel_table.h"
#include "core/cpu_features.h"

namespace bertft::wire {

// The level that is used: core's choice, or scalar where an AVX2 processor lacks F16C.
InstructionSet wire_level();

// A level's table. REQUIRES level <= wire_level().
const WireKernels& kernels_of(InstructionSet level);
inline const WireKernels& kernels() { return kernels_of(wire_level()); }

// While one lives, this thread neither flushes denormal results nor takes denormal inputs for zero, and rounds to
// nearest. All kernels must be called under one.
class IeeeArithmetic {
 public:
  IeeeArithmetic();
  ~IeeeArithmetic();
  IeeeArithmetic(const IeeeArithmetic&) = delete;
  IeeeArithmetic& operator=(const IeeeArithmetic&) = delete;

 private:
  unsigned saved_ = 0;
};

}  // namespace bertft::wire
