// Data for the workloads of kernels: a batch of short and longer texts of MiniLM's width, with dropout.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "ops/kernels/kernel_table.h"

namespace bertft::instructions {

constexpr int64_t kHeads = 12, kHeadDim = 32, kWidth = kHeads * kHeadDim;
constexpr double kEpsilon = 1e-12;
constexpr double kDropped = 0.1;

// Normal values, the same for the same seed everywhere.
inline std::vector<float> random_values(int64_t count, uint64_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(counter_normal(mix64(seed), i));
  return values;
}

struct Batch {
  Batch() {
    for (const int32_t length : {4, 13, 7, 22, 9, 16, 31, 64}) {
      keys.push_back(mix64(keys.size()));
      offsets.push_back(offsets.back() + length);
    }
  }

  int64_t rows() const { return offsets.back(); }
  ops::RowRanges ranges() const { return {offsets.data(), static_cast<int64_t>(keys.size())}; }
  ops::DropoutStream dropout() const {
    return {keys.data(), dropout_threshold(kDropped), static_cast<float>(1.0 / (1.0 - kDropped))};
  }

  static constexpr int64_t kLongest = 64;
  std::vector<int32_t> offsets = {0};
  std::vector<uint64_t> keys;
};

}  // namespace bertft::instructions
