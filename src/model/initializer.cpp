#include "model/initializer.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "core/hash.h"
#include "core/rng.h"

namespace bertft {
namespace {

constexpr uint64_t kInitStream = 0x1417;  // keeps these keys apart from those of other uses of the seed

}  // namespace

void fill_initial(const std::string& name, double deviation, uint64_t seed, std::span<double> values) {
  if (name.ends_with(".bias") || name.ends_with("LayerNorm.weight")) {
    std::fill(values.begin(), values.end(), name.ends_with(".bias") ? 0.0 : 1.0);
    return;
  }
  const uint64_t key = stream_key(seed, kInitStream, hash64(name));
  for (size_t i = 0; i < values.size(); ++i) values[i] = deviation * counter_normal(key, i);
}

void initialize(const ParameterStore& store, const LayoutEntry& entry, double deviation, uint64_t seed) {
  const at::Tensor values = at::empty({entry.size}, at::kDouble);
  fill_initial(entry.spec.name, deviation, seed, {values.mutable_data_ptr<double>(), static_cast<size_t>(entry.size)});
  store.weights().narrow(0, entry.offset, entry.size).copy_(values);
}

}  // namespace bertft
