// The data of a run: train, dev and test as data sets with targets.
#pragma once

#include <optional>
#include <string>

#include "config/run_config.h"
#include "data/dataset.h"
#include "tasks/task.h"
#include "train/data_files.h"

namespace bertft {

struct Splits {
  Dataset train;
  std::optional<Dataset> dev;
  std::optional<Dataset> test;
};

// Reads and encodes all files, or takes them out of the cache; prepares `task`, which finds its classes in all rows of
// the training files, and attaches its targets; splits dev off. `is_verified`: contents are compared with what cached
// data sets were made of. Logs warnings. Throws DataError and ConfigError.
Splits load_splits(const RunConfig& config, const SplitEncoder& encoder, Task& task, bool is_verified);

// data_report of all splits.
std::string splits_report(const Splits& splits, const LabelTable& labels);

}  // namespace bertft
