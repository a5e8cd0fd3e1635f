#include "data/dev_split.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/rng.h"

namespace bertft {
namespace {

// Keeps this choice apart from other uses of the seed.
constexpr uint64_t kSplitStream = 0x646576;  // "dev"

}  // namespace

DevSplit split_dev(const Dataset& rows, double fraction, uint64_t seed) {
  check(fraction > 0 && fraction < 1, "a part of the rows goes to dev");
  check(!rows.text_hashes().empty(), "rows are split by their texts");
  const auto limit = static_cast<uint64_t>(std::ldexp(fraction, 64));
  std::vector<int64_t> train;
  std::vector<int64_t> dev;
  for (int64_t row = 0; row < rows.rows(); ++row) {
    const uint64_t key = stream_key(seed, kSplitStream, rows.text_hashes()[static_cast<size_t>(row)]);
    (key < limit ? dev : train).push_back(row);
  }
  if (train.empty() || dev.empty()) {
    throw DataError(fmt::format(
        "data.dev_fraction: {} of {} rows leave {} for {}. Choose another fraction, or name a file in data.dev",
        fraction, rows.rows(), train.empty() ? "none" : "no rows", train.empty() ? "training" : "dev"));
  }
  return {rows.select(train), rows.select(dev)};
}

}  // namespace bertft
