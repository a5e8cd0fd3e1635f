// A micro-batch as plain arrays: the tokens of its sequences one behind the other, no padding anywhere.
// Tasks make tensors of it; nothing here knows torch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bertft {

class Dataset;

// T = tokens in all, B = sequences.
struct PackedBatch {
  std::vector<int32_t> ids;          // [T]
  std::vector<int32_t> token_types;  // [T] 0, or 1 in the second text of a pair
  std::vector<int32_t> positions;    // [T] from 0 in each sequence
  std::vector<int32_t> offsets;      // [B + 1] first token of each sequence, then T (cu_seqlens)
  std::vector<int64_t> rows;         // [B] row of the dataset that the sequence comes from
  std::vector<int32_t> parts;        // [B] which sequence of that row, from 0; (row, part) keys its dropout
  int32_t max_length = 0;            // tokens of the longest sequence
  int64_t feature_width = 0;
  std::vector<float> features;  // [T, feature_width], or empty

  int64_t tokens() const { return static_cast<int64_t>(ids.size()); }
  int64_t sequences() const { return static_cast<int64_t>(rows.size()); }
};

// Packs all sequences of the given rows in the given order. No rows give an empty batch with offsets {0}.
// Throws ResourceError when the tokens exceed 2^31 - 1.
PackedBatch pack_rows(const Dataset& dataset, std::span<const int64_t> rows);

}  // namespace bertft
