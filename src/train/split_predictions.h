// Predictions for the rows of files whose outputs are known already, or for the most part: the texts are read again,
// as data sets do not keep them.
#pragma once

#include <cstdint>
#include <string>

#include "data/dataset.h"
#include "tasks/row_outputs.h"
#include "train/data_files.h"
#include "train/model_folder_reader.h"

namespace bertft {

// What was computed for the rows of a data set, by its row numbers.
struct KnownOutputs {
  const Dataset& dataset;
  const RowOutputs& outputs;
};

struct PredictionWork {
  int64_t batch_tokens = 0;
  int threads = 1;
};

// Writes one row per row of the files, in their order, to `path`, which appears whole or not at all. Rows that are in
// the files but were left out of the data set, for their label say, are encoded and computed now; rows that could
// not be read have empty cells; of partial files only the rows of the data set are written. Throws DataError when the
// files hold other texts than when the data set was made, and as the reader does.
void write_split_predictions(const std::string& path, const SplitFiles& files, const KnownOutputs& known,
                             const OpenedModel& model, const PredictionWork& work);

}  // namespace bertft
