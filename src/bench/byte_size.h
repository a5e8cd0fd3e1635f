// Amounts of bytes as people write them on a command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bertft {

// "256" bytes; K, M, G (or KiB, MiB, GiB) are powers of 1,024, as in nccl-tests; KB, MB, GB powers of 1,000. Throws
// ConfigError "<what>: ..." for anything else, for less than 4 bytes, and for what is no multiple of 4, one fp32.
int64_t parse_byte_size(const std::string& text, const std::string& what);
// Several, divided by commas.
std::vector<int64_t> parse_byte_sizes(const std::string& text, const std::string& what);

// The shortest exact text that parse_byte_size() reads back: 65536 -> "64K", 438000000 -> "438MB".
std::string byte_size_text(int64_t bytes);

}  // namespace bertft
