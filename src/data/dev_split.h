// Splits a part off the training rows to choose the best model by.
#pragma once

#include <cstdint>

#include "data/dataset.h"

namespace bertft {

struct DevSplit {
  Dataset train;
  Dataset dev;
};

// A row goes to dev by a hash of its text and the seed, so a text is on one side with all its repeats, and stays there
// when rows are added; about `fraction` of the rows do. Throws DataError when one side would be empty.
// REQUIRES 0 < fraction < 1 and a data set that knows its text hashes.
DevSplit split_dev(const Dataset& rows, double fraction, uint64_t seed);

}  // namespace bertft
