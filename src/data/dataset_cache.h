// The folder in which tokenized data sets are kept for the next start on this node. Files are found by their key alone;
// nothing is locked: each is written under a name of its own and renamed, readers map what they found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "data/dataset.h"

namespace bertft {

// When all files together are larger, those that were used longest ago are removed.
inline constexpr uint64_t kCacheLimitBytes = uint64_t{20} << 30;

class DatasetCache {
 public:
  // `option` is data.cache_dir: a folder, which is created; "" for bert_finetune-cache-UID in $TMPDIR or /tmp, which
  // has to belong to this user alone; "none" for no cache. A folder that cannot be used means no cache, and problem().
  explicit DatasetCache(const std::string& option);

  bool is_on() const { return !folder_.empty(); }
  const std::string& problem() const { return problem_; }

  // Where the data set of a key is kept.
  std::string path_of(const std::string& key) const;
  // The data set, which counts as used now; nothing when it is not there or not right: then `why` says so, and the file
  // will be replaced.
  std::optional<Dataset> find(const std::string& key, std::string& why) const;
  // Removes the files used longest ago until the rest fits into `limit_bytes`, and what broken runs left; never `kept`.
  void prune(const std::string& kept, uint64_t limit_bytes = kCacheLimitBytes) const;

 private:
  std::string folder_;
  std::string problem_;
};

}  // namespace bertft
