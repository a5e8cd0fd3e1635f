// A folder that holds a program's state: tensors and small files, and DONE, which lists them with their checksums. It
// appears whole under its name or not at all, and a damaged one is told from a whole one before anything is taken of
// it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "checkpoint/tensor.h"

namespace bertft {

// Files beside the tensors: name -> content.
using StateFiles = std::map<std::string, std::string>;

// Writes `folder`.tmp, syncs it, renames it to `folder` (the commit) and syncs the parent, which must exist. One of
// that name is replaced. Throws ResourceError; whatever stood under the name before is still there then.
void write_state_folder(const std::string& folder, const std::vector<TensorView>& tensors, const StateFiles& files);

class StateFolder {
 public:
  // Reads and checks everything. Throws CheckpointError: DONE is missing or broken, a file is missing, of another size
  // or of another content than DONE says.
  static StateFolder open(const std::string& folder);

  const std::string& path() const { return path_; }
  // The tensor called `name`; throws CheckpointError when there is none.
  const TensorView& tensor(const std::string& name) const;
  // The content of a file; throws CheckpointError when there is none of that name.
  const std::string& file(const std::string& name) const;

 private:
  StateFolder(std::string path, TensorFile tensors, StateFiles files);
  std::string path_;
  TensorFile tensors_;
  StateFiles files_;
};

}  // namespace bertft
