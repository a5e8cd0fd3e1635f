#include "data/packed_batch.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "core/error.h"
#include "data/dataset.h"

namespace bertft {

PackedBatch pack_rows(const Dataset& dataset, std::span<const int64_t> rows) {
  int64_t tokens = 0;
  for (const int64_t row : rows) tokens += dataset.length(row);
  if (tokens > std::numeric_limits<int32_t>::max()) {
    throw ResourceError("a micro-batch of " + std::to_string(tokens) +
                        " tokens is too large: lower train.micro_batch_tokens or eval.batch_tokens");
  }
  PackedBatch batch;
  batch.ids.reserve(static_cast<size_t>(tokens));
  batch.token_types.resize(static_cast<size_t>(tokens), 0);
  batch.positions.resize(static_cast<size_t>(tokens));
  batch.offsets.reserve(rows.size() + 1);
  batch.offsets.push_back(0);
  batch.rows.assign(rows.begin(), rows.end());
  batch.parts.assign(rows.size(), 0);
  for (const int64_t row : rows) {
    const std::span<const int32_t> ids = dataset.ids(row);
    const auto begin = static_cast<std::ptrdiff_t>(batch.ids.size());
    const auto length = static_cast<std::ptrdiff_t>(ids.size());
    batch.ids.insert(batch.ids.end(), ids.begin(), ids.end());
    std::fill(batch.token_types.begin() + begin + dataset.second_begin(row), batch.token_types.begin() + begin + length,
              1);
    std::iota(batch.positions.begin() + begin, batch.positions.begin() + begin + length, 0);
    batch.offsets.push_back(static_cast<int32_t>(begin + length));
    batch.max_length = std::max(batch.max_length, static_cast<int32_t>(length));
  }
  return batch;
}

}  // namespace bertft
