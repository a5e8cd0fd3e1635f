// Finds the file of weights in a model folder, or says which other kind of weights lies there and how to convert it.
// The only place that knows by which file names checkpoints are published.
#pragma once

#include <string>

namespace bertft {

struct ModelFiles {
  std::string folder;   // where config.json and the tokenizer's files are looked for
  std::string weights;  // a safetensors file
};

// `path` is a folder with model.safetensors, or a file of weights itself. CheckpointError when it does not exist, or
// when it is or holds another kind of weights (PyTorch, TensorFlow, Flax, shards, an adapter), a Git LFS pointer or
// web page in their place, or none. Reads the first bytes at most: TensorFile::open checks the content.
ModelFiles find_model_files(const std::string& path);

}  // namespace bertft
