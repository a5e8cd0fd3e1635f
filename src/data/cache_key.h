// What a cached data set depends on, as text: equal keys mean equal data sets, without reading a byte of the files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/columns.h"
#include "tokenize/options.h"

namespace bertft {

class Tokenizer;

// How rows become ids.
struct EncoderKey {
  std::string name;  // with a version: Task::encoder_name()
  EncodeOptions options;
};

// Files (path, size, time of change in ns, device, inode), all of `request` but the sizes of chunks, the content of the
// tokenizer's files, and the encoder. Throws DataError for files that are not there and as expand_paths does.
std::string cache_key(const std::vector<std::string>& paths, const TableRequest& request, const Tokenizer& tokenizer,
                      const EncoderKey& encoder);

}  // namespace bertft
