#include "data/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "data/faults.h"

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
  long double value = 0;
  const char* end = label.data() + label.size();
  const auto [stop, error] = std::from_chars(label.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool comes_first(std::string_view a, std::string_view b) {
  const auto number_a = number_value(a);
  const auto number_b = number_value(b);
  if (number_a.has_value() != number_b.has_value()) return number_a.has_value();
  if (number_a && *number_a != *number_b) return *number_a < *number_b;
  return a < b;  // bytes of UTF-8 are ordered as their code points
}

void throw_missing_labels(const Table& table, const FaultList& faults) {
  faults.throw_if_any(fmt::format("{}: {} of {} rows have no label", table.path(), with_thousands(faults.count()),
                                  with_thousands(table.rows())),
                      fmt::format("Fill column '{}' or remove these rows",
                                  excerpt(table.columns()[static_cast<size_t>(table.roles().label)])));
}

// The labels that the table lacks with their counts, the most frequent first, as "'x' (3 rows), 'y' (1 row)".
std::string shown_counts(const std::unordered_map<std::string_view, int64_t>& counts) {
  std::vector<std::pair<std::string_view, int64_t>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return std::pair(-a.second, a.first) < std::pair(-b.second, b.first); });
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min<size_t>(sorted.size(), 5); ++i) {
    shown.push_back(fmt::format("'{}' ({} row{})", excerpt(sorted[i].first, 40), with_thousands(sorted[i].second),
                                sorted[i].second == 1 ? "" : "s"));
  }
  if (sorted.size() > shown.size()) shown.push_back(fmt::format("{} more", sorted.size() - shown.size()));
  return join(shown, ", ");
}

// Appends a warning for each group of names that `same` holds under one key.
template <typename Key>
void warn_of_groups(const std::map<Key, std::vector<std::string>>& same, const char* what,
                    std::vector<std::string>& warnings) {
  for (const auto& [key, names] : same) {
    if (names.size() < 2 || warnings.size() >= kShownWarnings) continue;
    std::vector<std::string> shown;
    for (size_t i = 0; i < std::min<size_t>(names.size(), 10); ++i) shown.push_back("'" + excerpt(names[i]) + "'");
    warnings.push_back(
        fmt::format("labels {} are equal {}; they are taken as {} classes", join(shown, " and "), what, names.size()));
  }
}

}  // namespace

LabelTable::LabelTable(std::vector<std::string> names) : names_(std::move(names)) {
  if (names_.size() < 2) throw ConfigError("data.labels: a list of at least two labels is needed");
  for (size_t i = 0; i < names_.size(); ++i) {
    if (trimmed(names_[i]).empty()) throw ConfigError(fmt::format("data.labels: label number {} is empty", i));
    if (!ids_.emplace(names_[i], static_cast<int32_t>(i)).second) {
      throw ConfigError(fmt::format("data.labels: '{}' occurs twice; remove one", excerpt(names_[i])));
    }
  }
}

LabelTable LabelTable::discover(const Table& training) {
  check(training.roles().label >= 0, "labels are discovered in a label column");
  std::unordered_set<std::string_view> distinct;
  FaultList faults;
  for (int64_t row = 0; row < training.rows(); ++row) {
    const std::string_view label = training.label(row);
    if (trimmed(label).empty()) {
      faults.add([&] { return training.place(row) + ": the label is missing"; });
    } else {
      distinct.insert(label);
    }
  }
  throw_missing_labels(training, faults);
  if (distinct.size() < 2) {
    const std::string cut =
        training.notes().is_cut_by_max_rows ? "; data.max_rows took only the first rows of the file" : "";
    throw DataError(fmt::format(
        "{}: all {} rows have the label '{}', and one class cannot be told from another{}. Check data.columns.label",
        training.path(), with_thousands(training.rows()), excerpt(*distinct.begin()), cut));
  }
  std::vector<std::string> names(distinct.begin(), distinct.end());
  std::sort(names.begin(), names.end(), comes_first);
  return LabelTable(std::move(names));
}

int32_t LabelTable::find(std::string_view label) const {
  const auto at = ids_.find(label);
  return at == ids_.end() ? -1 : at->second;
}

std::vector<std::string> LabelTable::warnings() const {
  std::map<long double, std::vector<std::string>> by_number;
  std::map<std::string_view, std::vector<std::string>> by_trimmed;
  for (const std::string& name : names_) {
    if (const auto value = number_value(name)) by_number[*value].push_back(name);
    by_trimmed[trimmed(name)].push_back(name);
  }
  std::vector<std::string> warnings;
  warn_of_groups(by_number, "as numbers", warnings);
  warn_of_groups(by_trimmed, "but for blanks around them", warnings);
  return warnings;
}

LabelTable make_label_table(const std::vector<std::string>& given, const Table& training) {
  const bool is_auto = given.empty() || (given.size() == 1 && given[0] == "auto");
  return is_auto ? LabelTable::discover(training) : LabelTable(given);
}

std::vector<int32_t> label_ids(const Table& table, const LabelTable& labels) {
  check(table.roles().label >= 0, "class numbers come from a label column");
  std::vector<int32_t> ids(static_cast<size_t>(table.rows()));
  std::unordered_map<std::string_view, int64_t> unknown;
  FaultList missing;
  FaultList faults;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view label = table.label(row);
    const int32_t id = labels.find(label);
    ids[static_cast<size_t>(row)] = id;
    if (id >= 0) continue;
    if (trimmed(label).empty()) {
      missing.add([&] { return table.place(row) + ": the label is missing"; });
      continue;
    }
    ++unknown[label];
    faults.add([&] {
      return fmt::format("{}: label '{}' is not among the {} labels of training{}", table.place(row), excerpt(label),
                         with_thousands(labels.size()), nearest_hint(label, labels.names()));
    });
  }
  throw_missing_labels(table, missing);
  faults.throw_if_any(fmt::format("{}: {} of {} rows have a label that training lacks: {}", table.path(),
                                  with_thousands(faults.count()), with_thousands(table.rows()), shown_counts(unknown)),
                      "Mend or remove these rows, or list all labels in data.labels");
  return ids;
}

}  // namespace bertft
