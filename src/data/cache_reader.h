// Reads a file of the dataset cache back as a data set whose arrays are mapped. Nothing in the file is believed before
// its sizes and checksums are right.
#pragma once

#include <optional>
#include <string>

#include "data/dataset.h"

namespace bertft {

// Nothing when there is no such file (`why` stays empty), and when it is damaged, cut, of another version or for
// another key (`why` says so). Reads the whole file once, in pieces, for its checksum; the file is mapped, and may be
// removed or replaced, but not changed, while the data set lives.
std::optional<Dataset> read_cached(const std::string& path, const std::string& key, std::string& why);

}  // namespace bertft
