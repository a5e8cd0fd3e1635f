// The JSON header of a safetensors file as plain data, and the check that its tensors tile the data area.
// Apart from safetensors.h, so that the JSON library is seen by one file and the layout rules by another.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/tensor.h"

namespace bertft {

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // as the safetensors package

struct HeaderEntry {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // bytes from the start of the data area
  uint64_t end = 0;
};

struct Header {
  std::vector<HeaderEntry> entries;  // in the order of the file
  std::map<std::string, std::string> metadata;
};

// Throws CheckpointError "path: what. remedy".
[[noreturn]] void throw_broken(const std::string& path, const std::string& what, const std::string& remedy);

extern const char* const kGetAgain;   // remedy for damage on the way: copy or download again
extern const char* const kSaveAgain;  // remedy for a wrong writer

// "It is a Python pickle" and the like: what a file is whose first bytes are not those of the format that was expected.
std::string describe_beginning(std::string_view bytes);

// Parses the JSON text. Each entry has a known type, non-negative sizes and two offsets; the names differ.
// Offsets are not yet compared with anything. Errors: CheckpointError.
Header parse_header(std::string_view json, const std::string& path);

// Demands that each entry's offsets fit its type and shape and that all of them together cover exactly `data_bytes`
// without hole or overlap. Sorts the entries by offset. Errors: CheckpointError.
void check_layout(std::vector<HeaderEntry>& entries, uint64_t data_bytes, const std::string& path);

}  // namespace bertft
