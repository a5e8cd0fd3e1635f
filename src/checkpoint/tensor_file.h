// A file of weights in memory, whatever its kind: safetensors, a torch.save file, or an index of shards of either.
// The one type in which everything that loads a model takes its weights.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/input_file.h"
#include "checkpoint/tensor.h"

namespace bertft {

struct TensorTable {
  std::vector<TensorView> tensors;              // sorted by name; no name comes twice
  std::map<std::string, std::string> metadata;  // what a safetensors file says of itself; empty when absent
};

// What a reader of one kind of file returns: the views of the table point into the memory.
struct LoadedTensors {
  TensorTable table;
  std::vector<FileBytes> memory;
  std::vector<std::string> notes;  // what was passed over on the way, one sentence each
};

class TensorFile {
 public:
  // The kind is told from the content, and for an index of shards from its name (*.index.json). Names that all begin
  // with "module." (DataParallel) or "_orig_mod." (torch.compile) lose that beginning. DataError when the file cannot
  // be read; CheckpointError for content that is not valid: see safetensors.h, torch_file.h, shard_index.h.
  static TensorFile open(const std::string& path);

  const std::string& path() const { return path_; }
  const std::vector<TensorView>& tensors() const { return loaded_.table.tensors; }
  const std::map<std::string, std::string>& metadata() const { return loaded_.table.metadata; }

  // What a user should know of how the file was read: a wrapper that was opened, entries that are no tensors.
  const std::vector<std::string>& notes() const { return loaded_.notes; }

  // The tensor called exactly `name`; nullptr when there is none.
  const TensorView* find(std::string_view name) const;

  // A hash of all names, element types, shapes and bytes: equal for equal tensors, in whatever kind and order of file.
  uint64_t checksum() const;

 private:
  TensorFile(std::string path, LoadedTensors loaded);
  std::string path_;
  LoadedTensors loaded_;
};

// One file that is no index: safetensors or torch.save, told from its content. Errors as TensorFile::open.
LoadedTensors read_weights_file(const std::string& path);

}  // namespace bertft
