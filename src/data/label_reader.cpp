#include "data/label_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

// A cell is searched byte by byte with a copy of the state for each: beyond this it is no label but a mistake.
constexpr size_t kLongestSearchedCell = 10'000;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// Reads a flat JSON array of texts and numbers; numbers keep the form in which they are written, as far as JSON has it.
class ListSax : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<std::string> items;

  bool null() override { return false; }
  bool boolean(bool value) override { return add(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return add(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return add(text); }
  bool string(string_t& text) override { return add(text); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return false; }
  bool key(string_t&) override { return false; }
  bool end_object() override { return false; }
  bool start_array(size_t) override { return depth_++ == 0; }
  bool end_array() override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool add(std::string text) {
    items.push_back(std::move(text));
    return depth_ == 1;
  }
  int depth_ = 0;
};

std::optional<bool> is_set(std::string_view cell) {
  const std::string_view text = trimmed(cell);
  if (text == "1" || text == "true" || text == "1.0") return true;
  if (text == "0" || text == "false" || text == "0.0") return false;
  return std::nullopt;
}

}  // namespace

struct LabelReader::Pattern {
  // The executor that explores all alternatives at once: time grows with the length times the size of the pattern, and
  // the stack with the pattern alone. The default one recurses once a byte and backtracks without limit.
  explicit Pattern(const std::string& text)
      : expression(text, std::regex::ECMAScript | std::regex_constants::__polynomial) {}

  std::optional<std::string_view> find(std::string_view cell) const {
    std::match_results<std::string_view::const_iterator> match;
    if (!std::regex_search(cell.begin(), cell.end(), match, expression)) return std::nullopt;
    const auto& group = match[match.size() > 1 ? 1 : 0];
    if (!group.matched) return std::string_view();
    return cell.substr(static_cast<size_t>(group.first - cell.begin()), static_cast<size_t>(group.length()));
  }

  std::regex expression;
};

LabelReader::LabelReader(const LabelSettings& settings)
    : settings_(settings), map_(settings.map.begin(), settings.map.end()) {
  for (const auto& [text, label] : settings_.map) {
    if (trimmed(label).empty()) {
      throw ConfigError(fmt::format("data.label_map: '{}' is mapped to an empty label", excerpt(text)));
    }
  }
  if (settings_.pattern.empty()) return;
  try {
    pattern_ = std::make_unique<const Pattern>(settings_.pattern);
  } catch (const std::regex_error& failure) {
    throw ConfigError(fmt::format(
        "data.label_pattern: '{}' is no regular expression that can be used (ECMAScript, without back-references): {}",
        excerpt(settings_.pattern, 200), failure.what()));
  }
}

LabelReader::~LabelReader() = default;
LabelReader::LabelReader(LabelReader&&) noexcept = default;

LabelReading LabelReader::read(std::string_view cell) const {
  LabelReading reading;
  if (!settings_.columns.empty()) {
    read_columns(cell, reading);
  } else if (settings_.type == LabelType::kMulti) {
    read_list(cell, reading);
  } else if (trimmed(cell).empty()) {
    reading.is_missing = true;
  } else {
    add_name(cell, reading);
    if (reading.fault.empty() && settings_.type == LabelType::kReal && !parse_real(reading.names[0], reading.value)) {
      reading.fault = "is no number";
    }
  }
  return reading;
}

void LabelReader::add_name(std::string_view text, LabelReading& reading) const {
  if (pattern_) {
    if (text.size() > kLongestSearchedCell) {
      reading.fault = fmt::format("of {} bytes is too long for data.label_pattern",
                                  with_thousands(static_cast<int64_t>(text.size())));
      return;
    }
    const std::optional<std::string_view> found = pattern_->find(text);
    if (!found || trimmed(*found).empty()) {
      reading.fault = found ? "has an empty match of data.label_pattern" : "does not match data.label_pattern";
      return;
    }
    text = *found;
  }
  std::string name(text);
  if (const auto mapped = map_.find(name); mapped != map_.end()) name = mapped->second;
  const auto known = std::find(reading.names.begin(), reading.names.end(), name);
  if (known == reading.names.end()) reading.names.push_back(std::move(name));
}

void LabelReader::read_list(std::string_view cell, LabelReading& reading) const {
  const std::string_view list = trimmed(cell);
  if (list.empty()) return;
  std::vector<std::string> items;
  if (list.front() == '[') {
    ListSax sax;
    if (!nlohmann::json::sax_parse(list, &sax)) {
      reading.fault = "is no JSON array of texts and numbers";
      return;
    }
    items = std::move(sax.items);
  } else {
    for (size_t begin = 0; begin <= list.size();) {
      const size_t end = std::min(list.find(',', begin), list.size());
      items.emplace_back(trimmed(list.substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  for (const std::string& item : items) {
    if (trimmed(item).empty()) reading.fault = "names an empty label";
    if (reading.fault.empty()) add_name(item, reading);
  }
}

void LabelReader::read_columns(std::string_view cell, LabelReading& reading) const {
  size_t begin = 0;
  for (const std::string& column : settings_.columns) {
    const size_t end = std::min(cell.find(kColumnSeparator, begin), cell.size());
    const std::optional<bool> is_one = is_set(cell.substr(std::min(begin, cell.size()), end - begin));
    if (!is_one) {
      reading.fault = fmt::format("has something else than 0 or 1 in column '{}'", excerpt(column, 40));
      return;
    }
    if (*is_one) add_name(column, reading);
    begin = end + 1;
  }
}

bool parse_real(std::string_view text, double& value) {
  std::string_view number = trimmed(text);
  if (number.size() > 1 && number[0] == '+' && number[1] != '-') number.remove_prefix(1);
  const char* end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  return error == std::errc{} && stop == end && std::isfinite(value);
}

}  // namespace bertft
