// Which ranges of the flat buffer share their settings.
#pragma once

#include <cstdint>
#include <vector>

#include "core/layout.h"

namespace bertft {

struct ParamGroup {
  int64_t begin = 0;  // elements of the flat buffer
  int64_t end = 0;
  double weight_decay = 0.0;
  double rate_scale = 1.0;  // what the learning rate of the step is multiplied with
};

// Layer-wise learning rates (Clark et al. 2020, ELECTRA; BEiT's convention): the head has scale 1, the last layer
// layer_decay, each layer below it once more, the embeddings of L layers layer_decay^(L + 1).
//
// Neighbours with equal settings are merged. The ranges cover the gradients; alignment gaps belong to the range before
// them (they hold zeros and stay zero).
std::vector<ParamGroup> param_groups(const Layout& layout, double weight_decay, double layer_decay = 1.0);

}  // namespace bertft
