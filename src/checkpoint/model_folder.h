// Finds the file of weights in a model folder, or says which other kind of weights lies there and how to convert it.
// The only place that knows by which file names checkpoints are published.
#pragma once

#include <string>
#include <vector>

namespace bertft {

struct ModelFiles {
  std::string folder;                    // where config.json and the tokenizer's files are looked for
  std::string weights;                   // what TensorFile::open takes
  std::vector<std::string> passed_over;  // names of other weights in the folder, which are not read
};

// `path` is a folder or a file of weights itself. In a folder the first that is there is taken: model.safetensors,
// model.safetensors.index.json, pytorch_model.bin, pytorch_model.bin.index.json. CheckpointError when it does not
// exist, or when it is or holds only another kind of weights (TensorFlow, Flax, an adapter), a Git LFS pointer or web
// page in their place, or none. Reads the first bytes at most: TensorFile::open checks the content.
ModelFiles find_model_files(const std::string& path);

}  // namespace bertft
