// Input that only one rank can read, such as standard input, which a launcher connects to rank 0 alone.
#pragma once

#include <functional>
#include <memory>

#include "comm/world.h"
#include "data/byte_source.h"
#include "train/ranks.h"

namespace bertft {

// Rank 0 reads the source that `open` makes and passes every block to all, so that all ranks see the same bytes; the
// others never call `open`. Collective, as is each read(): all ranks must ask for the same number of bytes. What fails
// on rank 0 is thrown alike.
std::unique_ptr<ByteSource> shared_source(const World& world, const GatherTexts& gather,
                                          const std::function<std::unique_ptr<ByteSource>()>& open);

}  // namespace bertft
