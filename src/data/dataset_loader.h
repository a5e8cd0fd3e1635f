// From files to a data set: out of the cache when it knows these very files, else read, encoded and put there.
#pragma once

#include <string>
#include <vector>

#include "data/cache_key.h"
#include "data/columns.h"
#include "data/dataset.h"
#include "data/dataset_cache.h"
#include "data/row_encoder.h"

namespace bertft {

struct DatasetSource {
  std::vector<std::string> paths;  // files, patterns and folders
  TableRequest request;
  const Tokenizer& tokenizer;
  RowEncoder encoder;
  EncoderKey encoder_key;
  int threads = 1;
};

struct LoadedDataset {
  Dataset dataset;
  bool is_from_cache = false;
  std::string cache_path;             // where it is kept; "" = nowhere
  std::vector<std::string> warnings;  // about the cache
};

// Throws as open_rows, RowStream::next and encode_rows do. Faults of the cache are warnings. Memory: the ids are never
// held as a whole when they go to the cache; 40 bytes a row are.
LoadedDataset load_dataset(const DatasetSource& source, const DatasetCache& cache);

// The content hash of the files as they are now (ReadNotes::content_hash), read as load_dataset reads them. Throws as
// open_rows and RowStream::next.
uint64_t content_hash(const std::vector<std::string>& paths, const TableRequest& request);

}  // namespace bertft
