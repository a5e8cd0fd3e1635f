#include "data/text_counts.h"

#include <string_view>
#include <unordered_map>

#include "core/hash.h"

namespace bertft {
namespace {

// A text or pair, compared by content.
struct TextKey {
  std::string_view text;
  std::string_view pair;
  bool operator==(const TextKey&) const = default;
};

struct TextKeyHash {
  size_t operator()(const TextKey& key) const { return hash64(key.pair, hash64(key.text)); }
};

using FirstRows = std::unordered_map<TextKey, int64_t, TextKeyHash>;

TextKey key_of(const Table& table, int64_t row) { return {table.text(row), table.text_pair(row)}; }

// The first row of each text.
FirstRows first_rows(const Table& table) {
  FirstRows first;
  first.reserve(static_cast<size_t>(table.rows()));
  for (int64_t row = 0; row < table.rows(); ++row) first.emplace(key_of(table, row), row);
  return first;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos; }

}  // namespace

TextCounts count_texts(const Table& table) {
  TextCounts counts;
  const FirstRows first = first_rows(table);
  const bool is_pair = table.roles().text_pair >= 0;
  for (int64_t row = 0; row < table.rows(); ++row) {
    if (is_blank(table.text(row)) || (is_pair && is_blank(table.text_pair(row)))) ++counts.empty;
    const int64_t earlier = first.find(key_of(table, row))->second;
    if (earlier == row) continue;
    ++counts.duplicates;
    if (table.label(row) != table.label(earlier)) ++counts.contradictions;
  }
  return counts;
}

int64_t count_overlap(const Table& training, const Table& other) {
  const FirstRows first = first_rows(training);
  int64_t count = 0;
  for (int64_t row = 0; row < other.rows(); ++row) count += static_cast<int64_t>(first.count(key_of(other, row)));
  return count;
}

}  // namespace bertft
