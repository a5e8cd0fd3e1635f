// Reads and writes safetensors files: an 8-byte little-endian header length, a JSON header, the bytes of the tensors.
// A file is distrusted until its whole header has been checked; nothing of a size it claims is allocated.
// Source: the format section of the safetensors package's README; what its 0.8 release writes, byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/tensor.h"
#include "core/files.h"

namespace bertft {

// What a header says; the views point into the bytes it was parsed from.
struct TensorTable {
  std::vector<TensorView> tensors;              // sorted by name
  std::map<std::string, std::string> metadata;  // the entry __metadata__; empty when absent
};

// Parses a whole file of `file_bytes`; `path` is for messages only. Refused with CheckpointError (path, tensor or byte,
// reason, remedy): a Git LFS pointer, a web page or another format, a header longer than the file or than 100 MB,
// broken JSON, nesting, unknown keys or element types, the same name twice, sizes that overflow, and data offsets that
// leave the file, overlap, leave holes, do not fit the shape or end before the file does. Unaligned offsets are valid.
TensorTable parse_safetensors(std::string_view file_bytes, const std::string& path);

// A mapped file and its tensors. The views live as long as this object; moving it keeps them valid.
class TensorFile {
 public:
  // DataError when the file cannot be read, CheckpointError as parse_safetensors.
  static TensorFile open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const std::vector<TensorView>& tensors() const { return table_.tensors; }
  const std::map<std::string, std::string>& metadata() const { return table_.metadata; }

  // The tensor called exactly `name`; nullptr when there is none.
  const TensorView* find(std::string_view name) const;

  // A hash of all names, element types, shapes and bytes: equal for equal tensors, however the file orders them.
  uint64_t checksum() const;

 private:
  TensorFile(MappedFile file, TensorTable table);
  MappedFile file_;
  TensorTable table_;
};

// Publishes `tensors` under `path` at once (core/files.h, ResourceError). Order as the safetensors package: larger
// elements first, then by name; the header is padded to 8 bytes, so every tensor is aligned to its elements.
// REQUIRES different names other than __metadata__, and bytes that fit shape and type; names and metadata are UTF-8.
void write_safetensors(const std::string& path, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace bertft
