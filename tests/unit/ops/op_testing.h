// What the tests of operations share: reproducible inputs, comparison of results, loops over implementations.
// Knows torch: include before tests/support/test.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "core/cpu_features.h"
#include "ops/dropout.h"
#include "ops/sequences.h"

namespace bertft::ops::test {

// Normal values, the same for the same seed on every machine.
at::Tensor random_tensor(at::IntArrayRef sizes, uint64_t seed, at::ScalarType type = at::kFloat);

Sequences sequences_of(const std::vector<int32_t>& lengths);

// Keys differ per sequence and seed. Inactive with probability 0.
Dropout dropout_of(double probability, const Sequences& sequences, uint64_t seed);

// ||a - b|| / ||b|| in double precision, over everything; ||a|| where b is zero. Not a number stays so.
double difference(const at::Tensor& a, const at::Tensor& b);

// Whether all bits agree.
bool is_same(const at::Tensor& a, const at::Tensor& b);

at::Tensor as_double(const at::Tensor& x);

// Runs `body` with the kernels of each instruction set that this machine has; the best one stays chosen.
void for_each_kernel_level(const std::function<void(InstructionSet)>& body);

// Runs `body` with ATen operations only.
void with_aten(const std::function<void()>& body);

// The largest |numeric - analytic| / (1 + |analytic|) over all elements of `variable` (fp64), where numeric is the
// central difference of `loss`, a function of the elements of `variable`, which is changed in place.
double gradient_error(at::Tensor variable, const at::Tensor& analytic, const std::function<double()>& loss);

// Sum over all elements of a * b.
double inner_product(const at::Tensor& a, const at::Tensor& b);

}  // namespace bertft::ops::test
