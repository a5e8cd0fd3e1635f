#include "bench/byte_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "core/error.h"

namespace bertft {
namespace {

struct Suffix {
  std::string_view text;
  int64_t bytes;
};

constexpr int64_t kMost = int64_t{1} << 40;
// The texts that are written come first among those of one size; larger sizes come first.
constexpr std::array<Suffix, 9> kSuffixes = {{{"G", int64_t{1} << 30},
                                              {"GiB", int64_t{1} << 30},
                                              {"GB", 1'000'000'000},
                                              {"M", int64_t{1} << 20},
                                              {"MiB", int64_t{1} << 20},
                                              {"MB", 1'000'000},
                                              {"K", int64_t{1} << 10},
                                              {"KiB", int64_t{1} << 10},
                                              {"KB", 1'000}}};

int64_t factor_of(std::string_view suffix, const std::string& text, const std::string& what) {
  if (suffix.empty()) return 1;
  for (const Suffix& known : kSuffixes) {
    if (known.text == suffix) return known.bytes;
  }
  throw ConfigError(fmt::format(
      "{}: '{}' is not an amount of bytes; write a whole number and K, M, G (powers of 1,024) or KB, MB, GB", what,
      text));
}

}  // namespace

int64_t parse_byte_size(const std::string& text, const std::string& what) {
  int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix(stop, static_cast<size_t>(text.data() + text.size() - stop));
  if (error != std::errc{} || number < 0) return factor_of("?", text, what);  // which refuses it
  const int64_t factor = factor_of(suffix, text, what);
  if (number > kMost / factor) throw ConfigError(fmt::format("{}: '{}' is more than {} bytes", what, text, kMost));
  const int64_t bytes = number * factor;
  if (bytes < 4 || bytes % 4 != 0) {
    throw ConfigError(fmt::format("{}: '{}' is {} bytes; numbers of 4 bytes are summed, so write a multiple of 4", what,
                                  text, bytes));
  }
  return bytes;
}

std::vector<int64_t> parse_byte_sizes(const std::string& text, const std::string& what) {
  std::vector<int64_t> sizes;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t comma = std::min(text.find(',', at), text.size());
    sizes.push_back(parse_byte_size(text.substr(at, comma - at), what));
    at = comma + 1;
  }
  return sizes;
}

std::string byte_size_text(int64_t bytes) {
  std::string shortest = std::to_string(bytes);
  for (const Suffix& suffix : kSuffixes) {
    if (bytes == 0 || bytes % suffix.bytes != 0) continue;
    const std::string text = std::to_string(bytes / suffix.bytes) + std::string(suffix.text);
    if (text.size() < shortest.size()) shortest = text;
  }
  return shortest;
}

}  // namespace bertft
