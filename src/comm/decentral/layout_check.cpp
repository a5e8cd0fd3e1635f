#include "comm/decentral/layout_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/error.h"
#include "core/hash.h"

namespace bertft {
namespace {

constexpr size_t kMostTexts = 4;

std::string as_bytes(const std::vector<uint64_t>& numbers) {
  std::string bytes;
  for (const uint64_t number : numbers) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(number >> (8 * i) & 0xff));
  }
  return bytes;
}

uint64_t number_at(std::string_view bytes, size_t index) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) number |= uint64_t{static_cast<unsigned char>(bytes[8 * index + i])} << (8 * i);
  return number;
}

// "ranks 0, 2-5".
std::string name_ranks(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (i > 0) text += ", ";
    text += fmt::format("{}", ranks[i]);
    if (last > i) text += fmt::format("-{}", ranks[last]);
    i = last;
  }
  return text;
}

void require_hashes(const std::vector<std::string>& gathered) {
  for (size_t rank = 0; rank < gathered.size(); ++rank) {
    if (gathered[rank].size() % 8 != 0) {
      throw CommError(fmt::format("rank {} runs a different program: its table of parameters cannot be read", rank));
    }
  }
}

// The first line in which two tables of hashes differ; one may end before the other.
size_t first_difference(const std::vector<std::string>& tables) {
  for (size_t line = 0;; ++line) {
    for (const std::string& table : tables) {
      const bool is_here = 8 * line < table.size(), is_first = 8 * line < tables[0].size();
      if (is_here != is_first) return line;
      if (is_here && number_at(table, line) != number_at(tables[0], line)) return line;
    }
    check(8 * line < tables[0].size(), "tables that differ have a first difference");
  }
}

}  // namespace

std::vector<std::string> layout_lines(const Layout& layout, const std::string& dtype) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} parameters with {} elements in {} units, {}", layout.entries.size(), layout.total,
                              layout.units.size(), dtype));
  for (const LayoutEntry& entry : layout.entries) {
    std::string shape;
    for (const int64_t extent : entry.spec.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
    const std::string units =
        entry.last_unit < 0 ? "frozen" : fmt::format("units {}-{}", entry.first_unit, entry.last_unit);
    lines.push_back(fmt::format("{} [{}] {} at element {}, {}", entry.spec.name, shape, dtype, entry.offset, units));
  }
  for (size_t unit = 0; unit < layout.units.size(); ++unit) {
    lines.push_back(
        fmt::format("unit {} with elements {} to {}", unit, layout.units[unit].begin, layout.units[unit].end));
  }
  return lines;
}

uint64_t layout_hash(const std::vector<std::string>& lines) {
  uint64_t hash = hash64("layout of a communicator");
  for (const std::string& line : lines) hash = hash64(line, hash);
  return hash;
}

std::string describe_difference(const std::vector<std::string>& texts) {
  std::vector<std::string> distinct;
  std::vector<std::vector<int>> ranks;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const auto found = std::find(distinct.begin(), distinct.end(), texts[rank]);
    const auto index = static_cast<size_t>(found - distinct.begin());
    if (found == distinct.end()) {
      distinct.push_back(texts[rank]);
      ranks.emplace_back();
    }
    ranks[index].push_back(static_cast<int>(rank));
  }
  if (distinct.size() < 2) return "";
  std::string description;
  for (size_t i = 0; i < std::min(distinct.size(), kMostTexts); ++i) {
    description += fmt::format("{}{}: {}", i == 0 ? "" : "; ", name_ranks(ranks[i]), distinct[i]);
  }
  if (distinct.size() > kMostTexts) description += fmt::format("; and {} more kinds", distinct.size() - kMostTexts);
  return description;
}

uint64_t check_layout(const Layout& layout, const std::string& dtype, const AllGather& all_gather) {
  const std::vector<std::string> lines = layout_lines(layout, dtype);
  const uint64_t hash = layout_hash(lines);
  const std::vector<std::string> hashes = all_gather(as_bytes({hash}));
  require_hashes(hashes);
  if (*std::min_element(hashes.begin(), hashes.end()) == *std::max_element(hashes.begin(), hashes.end())) return hash;

  std::vector<uint64_t> line_hashes;
  for (const std::string& line : lines) line_hashes.push_back(hash64(line));
  const std::vector<std::string> tables = all_gather(as_bytes(line_hashes));
  require_hashes(tables);
  // The first line only counts; what it counts is more telling.
  std::vector<std::string> behind_counts;
  for (const std::string& table : tables) behind_counts.push_back(table.substr(std::min<size_t>(8, table.size())));
  const bool only_counts = describe_difference(behind_counts).empty();
  const size_t line = only_counts ? 0 : 1 + first_difference(behind_counts);
  const std::vector<std::string> texts = all_gather(line < lines.size() ? lines[line] : "nothing more");
  throw CommError(
      fmt::format("the ranks of this job do not have the same parameters; the first difference, line {}: {}. "
                  "Start all ranks with the same program, configuration and checkpoint",
                  line, describe_difference(texts)));
}

}  // namespace bertft
