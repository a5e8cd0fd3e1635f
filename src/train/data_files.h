// Reads and encodes the files of a run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/columns.h"
#include "data/dataset.h"
#include "data/dataset_cache.h"
#include "data/row_encoder.h"
#include "data/row_stream.h"
#include "data/table.h"
#include "tasks/task.h"
#include "tokenize/tokenizer.h"
#include "train/model_settings.h"

namespace bertft {

// Where the rows of a split come from.
struct SplitFiles {
  StringList paths;  // files, patterns and folders
  TableRequest request;
  bool is_partial = false;  // the files hold rows of another split, too
};

// Says what the reader found worth saying: format chosen, repaired bytes, rows left out.
void log_reading(const std::vector<std::string>& files, int64_t rows, const ReadNotes& notes);

// How the rows of all splits become data sets.
struct SplitEncoder {
  const Task& task;
  const Tokenizer& tokenizer;
  const ModelSettings& settings;
  int threads = 1;
};

// The rows of a split as a data set without targets, out of the cache or read now. Logs what was read, and faults
// of the cache as warnings. Throws as load_dataset.
Dataset load_split(const SplitFiles& files, const SplitEncoder& encoder, const DatasetCache& cache);

// Reads the files of a split again. Throws DataError when their content is not what the data set was made of, and
// ConfigError when that is not known (data.max_rows).
void verify_content(const SplitFiles& files, const Dataset& dataset);

// The encode options that a model's settings imply.
EncodeOptions encode_options(const ModelSettings& settings);

}  // namespace bertft
