// Reads and writes safetensors files: an 8-byte little-endian header length, a JSON header, the bytes of the tensors.
// A file is distrusted until its whole header has been checked; nothing of a size it claims is allocated before.
// Source: the format section of the safetensors package's README; what its 0.8 release writes, byte for byte.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/input_file.h"
#include "checkpoint/tensor.h"
#include "checkpoint/tensor_file.h"

namespace bertft {

// Parses a whole file of `file_bytes`; `path` is for messages only. Refused with CheckpointError (path, tensor or byte,
// reason, remedy): a Git LFS pointer, a web page or another format, a header longer than the file or than 100 MB,
// broken JSON, nesting, unknown keys or element types, the same name twice, sizes that overflow, and data offsets that
// leave the file, overlap, leave holes, do not fit the shape or end before the file does. Unaligned offsets are valid.
// The views point into `file_bytes`.
TensorTable parse_safetensors(std::string_view file_bytes, const std::string& path);

// The same of a file, whose header is checked before the data is read. DataError when it cannot be read.
LoadedTensors read_safetensors(const InputFile& file);

// Publishes `tensors` under `path` at once (core/files.h, ResourceError). Order as the safetensors package: larger
// elements first, then by name; the header is padded to 8 bytes, so every tensor is aligned to its elements.
// REQUIRES different names other than __metadata__, and bytes that fit shape and type; names and metadata are UTF-8.
void write_safetensors(const std::string& path, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace bertft
