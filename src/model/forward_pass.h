// One micro-batch on its way through the model: what the rows are, and the keys of their dropout.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ops/dropout.h"
#include "ops/embedding.h"
#include "ops/sequences.h"

namespace bertft {

// Where in the model a dropout sits. Part of every key: never renumber.
enum class DropoutSite : uint64_t {
  kEmbeddings = 0,
  kAttentionProbabilities = 1,
  kAttentionOutput = 2,
  kFeedForwardOutput = 3,
  kHead = 4,
};

struct ForwardPass {
  ops::TokenIds tokens;         // [T]
  ops::Sequences sequences;     // S sequences over T tokens
  ops::Sequences first_tokens;  // S sequences of one token: the shape after the last layer when only [CLS] is needed
  std::vector<int64_t> rows;    // [S] row of the data set that each sequence belongs to
  std::vector<int32_t> parts;   // [S] which sequence of its row
  std::vector<float> features;  // [T, feature_width] real-valued inputs of tasks that have them; else empty
  int64_t feature_width = 0;
  bool is_training = false;  // dropout only then
  uint64_t seed = 0;
  int64_t step = 0;

  // The dropout of one place. Its keys depend on seed, step, row, part, layer and site, and on nothing else.
  ops::Dropout dropout(double probability, int64_t layer, DropoutSite site) const;
};

using ForwardPassPtr = std::shared_ptr<const ForwardPass>;

}  // namespace bertft
