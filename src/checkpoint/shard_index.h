// Reads a model whose weights are cut into several files: model.safetensors.index.json or pytorch_model.bin.index.json
// with the shards beside it. The index must say of every tensor in which shard it is, and be right.
// Source: transformers' save_pretrained(max_shard_size=...), metadata.total_size and weight_map.
#pragma once

#include <string>
#include <string_view>

#include "checkpoint/tensor_file.h"

namespace bertft {

constexpr std::string_view kIndexEnd = ".index.json";

// All tensors of all shards. DataError when a file cannot be read. CheckpointError with one message for: an index that
// is no such JSON or a pointer or web page, a tensor listed twice, a shard outside the index's folder, a shard that is
// missing, a tensor that is not where the index says (in another shard, or in none), one that lies in two shards, one
// that is in no list, and a metadata.total_size that is not the size of all tensors (storages that several tensors
// share may count once).
LoadedTensors read_shards(const std::string& index_path);

}  // namespace bertft
