// Which instruction sets this processor and operating system offer to our own kernels.
#pragma once

#include <string>

namespace bertft {

// Ordered: a processor that has one level has the lower ones.
enum class InstructionSet { kScalar = 0, kAvx2 = 1, kAvx512 = 2 };

// The best level of this machine (AVX-512 means F, BW, DQ and VL; AVX2 includes FMA), or the one that
// BERTFT_INSTRUCTION_SET=scalar|avx2|avx512 names, if the machine has it (else ConfigError).
InstructionSet offered_instruction_set();

// The level that kernels use: the offered one, or that of lower_instruction_set(). Constant from the first call on.
InstructionSet instruction_set();

// For a job whose ranks do not offer the same. REQUIRES a level not above the offered one, and that no kernel was
// chosen by another one yet.
void lower_instruction_set(InstructionSet level);

std::string instruction_set_name(InstructionSet level);

}  // namespace bertft
