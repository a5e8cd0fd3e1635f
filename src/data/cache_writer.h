// Writes a file of the dataset cache while the data set is made, with bounded memory: ids leave as they come. Whatever
// goes wrong - a full disk, a folder that is gone - is no error of the run: what was written is read back instead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/hash.h"
#include "data/dataset_arrays.h"

namespace bertft {

class CacheWriter {
 public:
  // Writes to a name of its own beside `path`, so that several processes may make the same file at once. is_good() says
  // whether that could be created.
  explicit CacheWriter(const std::string& path);
  ~CacheWriter();  // removes what was not committed
  CacheWriter(const CacheWriter&) = delete;
  CacheWriter& operator=(const CacheWriter&) = delete;

  bool is_good() const { return failure_.empty(); }
  // Why it is not, for a warning.
  const std::string& failure() const { return failure_; }

  // Appends ids. False when they could not be written; nothing is to be appended then.
  bool append_ids(const std::vector<int32_t>& ids);
  // All ids that were appended. Throws ResourceError when they cannot be read.
  std::vector<int32_t> take_back() const;

  // Writes the other arrays and the notes, syncs, and gives the file its name. False when that failed.
  bool commit(const DatasetArrays& arrays, const std::string& notes);

 private:
  bool write(const void* data, uint64_t bytes);
  bool write_at(const void* data, uint64_t bytes, uint64_t offset);
  bool pad();
  void fail(const char* what);

  std::string path_;
  std::string temporary_path_;
  int descriptor_ = -1;
  uint64_t end_ = 0;  // of what is written
  uint64_t ids_bytes_ = 0;
  StreamHash hash_;
  std::string failure_;
};

}  // namespace bertft
