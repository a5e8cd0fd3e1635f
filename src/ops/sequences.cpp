#include "ops/sequences.h"

#include <ATen/ops/tensor.h>

#include "core/error.h"

namespace bertft::ops {

Sequences single_rows(int64_t count) {
  check(count >= 0, "a batch cannot have a negative number of sequences");
  Sequences sequences;
  sequences.offsets.resize(static_cast<size_t>(count) + 1);
  for (size_t i = 0; i < sequences.offsets.size(); ++i) {
    sequences.offsets[i] = static_cast<int32_t>(i);
  }
  sequences.max_length = count > 0 ? 1 : 0;
  return sequences;
}

at::Tensor first_rows(const Sequences& sequences, at::Device device) {
  const std::vector<int64_t> rows(sequences.offsets.begin(), sequences.offsets.end() - 1);
  return at::tensor(rows, at::kLong).to(device);
}

}  // namespace bertft::ops
