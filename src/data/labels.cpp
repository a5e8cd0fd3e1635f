#include "data/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr size_t kShownWarnings = 10;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// The value of a label that is a decimal number, such as -1, 1.50 or 2e3; not inf and nan.
std::optional<long double> number_value(std::string_view label) {
  if (label.size() > 1 && label[0] == '+' && label[1] != '-') label.remove_prefix(1);
  if (label.empty() || (label[0] != '-' && label[0] != '.' && (label[0] < '0' || label[0] > '9'))) return std::nullopt;
  long double value = 0;
  const char* end = label.data() + label.size();
  const auto [stop, error] = std::from_chars(label.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Appends a warning for each run of equal keys in `sorted`, pairs of (key, number of the name).
template <typename Key>
void warn_of_groups(std::vector<std::pair<Key, int32_t>> keys, const std::vector<std::string>& names, const char* what,
                    std::vector<std::string>& warnings) {
  std::sort(keys.begin(), keys.end());
  for (size_t begin = 0; begin < keys.size() && warnings.size() < kShownWarnings;) {
    size_t end = begin + 1;
    while (end < keys.size() && keys[end].first == keys[begin].first) ++end;
    if (end - begin > 1) {
      std::vector<std::string> shown;
      for (size_t i = begin; i < std::min(end, begin + 10); ++i) {
        shown.push_back("'" + excerpt(names[static_cast<size_t>(keys[i].second)]) + "'");
      }
      warnings.push_back(
          fmt::format("labels {} are equal {}; they are taken as {} classes", join(shown, " and "), what, end - begin));
    }
    begin = end;
  }
}

}  // namespace

LabelTable::LabelTable(std::vector<std::string> names, size_t least) : names_(std::move(names)) {
  if (names_.size() < least) {
    throw ConfigError(least == 1 ? "data.labels: a list of labels is needed"
                                 : "data.labels: a list of at least two labels is needed");
  }
  slots_.assign(std::bit_ceil(2 * names_.size()), -1);
  for (size_t i = 0; i < names_.size(); ++i) {
    if (trimmed(names_[i]).empty()) throw ConfigError(fmt::format("data.labels: label number {} is empty", i));
    if (find(names_[i]) >= 0) {
      throw ConfigError(fmt::format("data.labels: '{}' occurs twice; remove one", excerpt(names_[i])));
    }
    size_t slot = hash64(names_[i]) & (slots_.size() - 1);
    while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<int32_t>(i);
  }
}

int32_t LabelTable::find(std::string_view label) const {
  if (slots_.empty()) return -1;
  for (size_t slot = hash64(label) & (slots_.size() - 1); slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
    if (names_[static_cast<size_t>(slots_[slot])] == label) return slots_[slot];
  }
  return -1;
}

std::vector<std::string> LabelTable::warnings() const {
  std::vector<std::pair<long double, int32_t>> numbers;
  std::vector<std::pair<std::string_view, int32_t>> texts;
  for (int32_t id = 0; id < size(); ++id) {
    if (const auto value = number_value(name(id))) numbers.emplace_back(*value, id);
    texts.emplace_back(trimmed(name(id)), id);
  }
  std::vector<std::string> warnings;
  warn_of_groups(std::move(numbers), names_, "as numbers", warnings);
  warn_of_groups(std::move(texts), names_, "but for blanks around them", warnings);
  return warnings;
}

std::vector<std::string> in_label_order(std::vector<std::string> names) {
  struct Key {
    bool is_text = false;
    long double value = 0;
    std::string name;
    bool operator<(const Key& other) const {
      if (is_text != other.is_text) return other.is_text;
      if (value != other.value) return value < other.value;
      return name < other.name;  // bytes of UTF-8 are ordered as their code points
    }
  };
  std::vector<Key> keys;
  keys.reserve(names.size());
  for (std::string& name : names) {
    const auto value = number_value(name);
    keys.push_back({!value.has_value(), value.value_or(0), std::move(name)});
  }
  std::sort(keys.begin(), keys.end());
  names.clear();
  for (Key& key : keys) {
    if (names.empty() || names.back() != key.name) names.push_back(std::move(key.name));
  }
  return names;
}

}  // namespace bertft
