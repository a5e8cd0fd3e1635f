// What the tests of the raw kernels share. Buffers are exactly as large as the kernels may touch, so that the address
// sanitizer finds every step outside.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/cpu_features.h"
#include "ops/kernels/kernel_table.h"

namespace bertft::ops::test {

// Normal values, the same for the same seed on every machine.
std::vector<float> random_values(int64_t count, uint64_t seed);

// Runs `body` with the kernels of each instruction set that this machine has.
void for_each_level(const std::function<void(const CpuKernels& kernels, InstructionSet level)>& body);

// Offsets of sequences of these lengths.
std::vector<int32_t> offsets_of(const std::vector<int32_t>& lengths);

// Dropout of probability 0.25 with these keys, or none.
DropoutStream stream_of(const std::vector<uint64_t>& keys, bool is_active);

// 0 or the scale, for element `index` of a sequence.
double factor_of(const DropoutStream& dropout, int64_t sequence, int64_t index);

// ||a - b|| / ||b||
double distance(const std::vector<float>& a, const std::vector<double>& b);

}  // namespace bertft::ops::test
