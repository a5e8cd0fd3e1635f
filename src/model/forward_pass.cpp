#include "model/forward_pass.h"

#include "core/rng.h"

namespace bertft {
namespace {

constexpr uint64_t kDropoutStream = 0xD209;  // keeps these keys apart from those of other uses of the seed

}  // namespace

ops::Dropout ForwardPass::dropout(double probability, int64_t layer, DropoutSite site) const {
  ops::Dropout dropout;
  if (!is_training || probability <= 0.0) return dropout;
  dropout.probability = probability;
  dropout.keys.reserve(rows.size());
  for (size_t s = 0; s < rows.size(); ++s) {
    dropout.keys.push_back(stream_key(seed, kDropoutStream, step, rows[s], parts[s], layer, site));
  }
  return dropout;
}

}  // namespace bertft
