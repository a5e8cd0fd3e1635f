// One LAMB step over the flat buffers, in two implementations that tests compare: kernels of our own for the CPU, and
// ATen operations for devices without them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/layout.h"
#include "optim/kernels/lamb_block.h"

namespace bertft {

// A piece of one parameter: partial sums of norms are made per block.
struct LambBlock {
  int64_t begin, size;  // elements of the flat buffers
  size_t entry;         // of the layout
};

// What a step needs to know of one parameter.
struct LambParameter {
  LambConstants<double> constants;
  double rate;      // learning rate, scaled for the layer
  bool is_adapted;  // false: the ratio is 1
};

// The blocks of the trainable parameters in the order of the layout: LayoutEntry::norm_block.
std::vector<LambBlock> lamb_blocks(const Layout& layout);

// The flat buffers of one step: weights and moments are updated in place.
struct LambBuffers {
  at::Tensor weights, gradients, first_moment, second_moment;
};

// Squares are summed in double in the fixed blocks, the blocks in order, so that neither the number of threads nor the
// width of vectors changes a ratio. One element of `parameters` for each trainable entry of the layout.
void lamb_update(const LambBuffers& buffers, const std::vector<LambBlock>& blocks,
                 const std::vector<LambParameter>& parameters);

// The same on any device, parameter by parameter. `layout`: whose blocks they are.
void lamb_update_with_aten(const LambBuffers& buffers, const Layout& layout,
                           const std::vector<LambParameter>& parameters);

}  // namespace bertft
