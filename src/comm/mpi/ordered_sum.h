// Adds up what all participants sent for one slice in the order of docs/communicator-transports.md: the ranks of a node
// first, then the nodes. Knows nothing of MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "comm/wire/block_codec.h"

namespace bertft::mpi {

// What one participant has to add: plain elements, or 16-bit ones when `code` says so.
struct Contribution {
  const void* elements = nullptr;
  BlockCode code = {};
  int group = 0;  // ascending; contributions of one group are added first, then the groups' sums
};

// A piece whose sum is not finite, with what `source` contributed to it.
struct WrongPiece {
  size_t source = 0;
  int64_t first = 0;  // element, counted from the slice's first
  int64_t count = 0;
  const void* elements = nullptr;
};

// out[0, count) = the sum; `out` may be what a contribution consists of. `element_bytes`: 4 (float) or 8 (double,
// always plain). `on_wrong` is called for each source of a piece before the piece is written, so that its origin can be
// found.
void sum_in_order(const std::vector<Contribution>& sources, int64_t count, size_t element_bytes, void* out,
                  const std::function<void(const WrongPiece&)>& on_wrong);

}  // namespace bertft::mpi
