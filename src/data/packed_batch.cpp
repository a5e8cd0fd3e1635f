#include "data/packed_batch.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "core/error.h"
#include "data/dataset.h"

namespace bertft {

namespace {

// Appends one sequence, whose ids begin at `ids`.
void append_part(PackedBatch& batch, std::span<const int32_t> ids, int32_t second_begin) {
  const auto begin = static_cast<std::ptrdiff_t>(batch.ids.size());
  const auto length = static_cast<std::ptrdiff_t>(ids.size());
  batch.ids.insert(batch.ids.end(), ids.begin(), ids.end());
  std::fill(batch.token_types.begin() + begin + second_begin, batch.token_types.begin() + begin + length, 1);
  std::iota(batch.positions.begin() + begin, batch.positions.begin() + begin + length, 0);
  batch.offsets.push_back(static_cast<int32_t>(begin + length));
  batch.max_length = std::max(batch.max_length, static_cast<int32_t>(length));
}

}  // namespace

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
  batch.feature_width = dataset.feature_width();
  for (const int64_t row : rows) {
    const std::span<const int32_t> lengths = dataset.part_lengths(row);
    const std::span<const int32_t> second_begins = dataset.part_second_begins(row);
    std::span<const int32_t> ids = dataset.ids(row);
    for (size_t part = 0; part < lengths.size(); ++part) {
      append_part(batch, ids.first(static_cast<size_t>(lengths[part])), second_begins[part]);
      ids = ids.subspan(static_cast<size_t>(lengths[part]));
      batch.rows.push_back(row);
      batch.parts.push_back(static_cast<int32_t>(part));
    }
    const std::span<const float> features = dataset.features(row);
    batch.features.insert(batch.features.end(), features.begin(), features.end());
  }
  return batch;
}

}  // namespace bertft
