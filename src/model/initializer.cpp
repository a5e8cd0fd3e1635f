#include "model/initializer.h"

#include <ATen/ops/empty.h>

#include "core/hash.h"
#include "core/rng.h"

namespace bertft {
namespace {

constexpr uint64_t kInitStream = 0x1417;  // keeps these keys apart from those of other uses of the seed

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace

void initialize(const ParameterStore& store, const LayoutEntry& entry, double deviation, uint64_t seed) {
  at::Tensor target = store.weights().narrow(0, entry.offset, entry.size);
  if (ends_with(entry.spec.name, ".bias")) {
    target.zero_();
    return;
  }
  if (ends_with(entry.spec.name, "LayerNorm.weight")) {
    target.fill_(1.0);
    return;
  }
  const uint64_t key = stream_key(seed, kInitStream, hash64(entry.spec.name));
  const at::Tensor values = at::empty({entry.size}, at::kDouble);
  auto* data = values.mutable_data_ptr<double>();
  for (int64_t i = 0; i < entry.size; ++i) data[i] = deviation * counter_normal(key, static_cast<uint64_t>(i));
  target.copy_(values);
}

}  // namespace bertft
