#include "core/option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

std::string number_text(double value) { return fmt::format("{}", value); }

template <typename T>
std::string value_text(const T& value, const std::string& auto_word = "auto") {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, StringList>) {
    return "[" + join(value, ", ") + "]";
  } else if constexpr (std::is_same_v<T, DoublePair>) {
    return "[" + number_text(value[0]) + ", " + number_text(value[1]) + "]";
  } else if constexpr (std::is_same_v<T, StringMap>) {
    std::vector<std::string> entries;
    for (const auto& [key, entry] : value) entries.push_back(key + ": " + entry);
    return "{" + join(entries, ", ") + "}";
  } else if constexpr (std::is_same_v<T, TextOrMap>) {
    return value.text.empty() ? value_text(value.map) : value.text;
  } else if constexpr (std::is_same_v<T, AutoInt>) {
    return value ? std::to_string(*value) : auto_word;
  } else if constexpr (std::is_same_v<T, AutoDouble>) {
    return value ? number_text(*value) : auto_word;
  } else if constexpr (std::is_same_v<T, double>) {
    return number_text(value);
  } else {
    return std::to_string(value);
  }
}

template <typename T>
std::optional<T> parse_number(const std::string& text) {
  T value{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  if constexpr (std::is_same_v<T, double>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

std::optional<int64_t> parse_integer(const std::string& text) {
  if (const auto value = parse_number<int64_t>(text)) return value;
  const auto real = parse_number<double>(text);  // 1e5 is an integer, too
  if (real && std::floor(*real) == *real && std::abs(*real) < 9e15) return static_cast<int64_t>(*real);
  return std::nullopt;
}

std::string range_text(const Option& option) {
  if (option.min && option.max) return fmt::format("between {} and {}", *option.min, *option.max);
  if (option.min) return fmt::format("at least {}", *option.min);
  return fmt::format("at most {}", *option.max);
}

// Turns texts into one value of the target's type; holds what is needed for a message.
class Setter {
 public:
  Setter(const Option& option, const StringList& texts, const std::string& place, const std::string& key)
      : option_(option), texts_(texts), place_(place), key_(key) {}

  void operator()(bool* target) const {
    const std::string& text = single();
    if (text != "true" && text != "false") fail_type(text);
    *target = text == "true";
  }
  void operator()(int64_t* target) const { *target = integer(single()); }
  void operator()(double* target) const { *target = real(single()); }
  void operator()(AutoInt* target) const {
    *target = single() == option_.auto_word ? std::nullopt : AutoInt(integer(single()));
  }
  void operator()(AutoDouble* target) const {
    *target = single() == option_.auto_word ? std::nullopt : AutoDouble(real(single()));
  }
  void operator()(std::string* target) const { *target = chosen(single()); }
  void operator()(DoublePair* target) const {
    if (texts_.size() != 2) {
      throw ConfigError(
          fmt::format("{}: {}: {} is needed, got {} value(s)", place_, key_, option_type_text(option_), texts_.size()));
    }
    *target = {real(texts_[0]), real(texts_[1])};
  }
  // One empty text is the empty list, as `--set data.dev=` means it.
  void operator()(StringList* target) const {
    for (const std::string& text : texts_) chosen(text);
    *target = texts_ == StringList{""} ? StringList{} : texts_;
  }
  void operator()(StringMap*) const {
    throw ConfigError(fmt::format("{}: {}: {} is needed", place_, key_, option_type_text(option_)));
  }
  void operator()(TextOrMap* target) const { *target = {chosen(single()), {}}; }

 private:
  const std::string& single() const {
    if (texts_.size() != 1) {
      throw ConfigError(fmt::format("{}: {}: {} is needed, not a list", place_, key_, option_type_text(option_)));
    }
    return texts_.front();
  }
  int64_t integer(const std::string& text) const {
    const auto value = parse_integer(text);
    if (!value) fail_type(text);
    check_range(static_cast<double>(*value), text);
    return *value;
  }
  double real(const std::string& text) const {
    const auto value = parse_number<double>(text);
    if (!value) fail_type(text);
    check_range(*value, text);
    return *value;
  }
  const std::string& chosen(const std::string& text) const {
    if (option_.choices.empty() || std::count(option_.choices.begin(), option_.choices.end(), text) > 0) return text;
    throw ConfigError(
        fmt::format("{}: {}: '{}' is not one of {}", place_, key_, excerpt(text), join(option_.choices, ", ")));
  }
  void check_range(double value, const std::string& text) const {
    if ((option_.min && value < *option_.min) || (option_.max && value > *option_.max)) {
      throw ConfigError(fmt::format("{}: {}: {} is out of range: it must be {}{}", place_, key_, text,
                                    range_text(option_), option_.unit.empty() ? "" : " " + option_.unit));
    }
  }
  [[noreturn]] void fail_type(const std::string& text) const {
    throw ConfigError(fmt::format("{}: {}: '{}' is not of the expected type: {}", place_, key_, excerpt(text),
                                  option_type_text(option_)));
  }

  const Option& option_;
  const StringList& texts_;
  const std::string& place_;
  const std::string& key_;
};

}  // namespace

std::string option_value_text(const Option& option) {
  return std::visit([&](const auto* target) { return value_text(*target, option.auto_word); }, option.target);
}

std::string option_type_text(const Option& option) {
  struct Namer {
    const std::string& auto_word;
    std::string operator()(bool*) const { return "true or false"; }
    std::string operator()(int64_t*) const { return "an integer"; }
    std::string operator()(double*) const { return "a number"; }
    std::string operator()(std::string*) const { return "a text"; }
    std::string operator()(AutoInt*) const { return "an integer or " + auto_word; }
    std::string operator()(AutoDouble*) const { return "a number or " + auto_word; }
    std::string operator()(StringList*) const { return "a list of texts"; }
    std::string operator()(DoublePair*) const { return "a list of two numbers"; }
    std::string operator()(StringMap*) const { return "a map"; }
    std::string operator()(TextOrMap*) const { return "a word or a map"; }
  };
  return std::visit(Namer{option.auto_word}, option.target);
}

void set_option(const Option& option, const StringList& texts, const std::string& place, const std::string& full_key) {
  std::visit(Setter(option, texts, place, full_key), option.target);
}

bool takes_map(const Option& option) {
  return std::holds_alternative<StringMap*>(option.target) || std::holds_alternative<TextOrMap*>(option.target);
}

void set_option(const Option& option, const StringMap& map, const std::string& place, const std::string& full_key) {
  if (const auto* target = std::get_if<StringMap*>(&option.target)) {
    **target = map;
  } else if (const auto* either = std::get_if<TextOrMap*>(&option.target)) {
    **either = {"", map};
  } else {
    throw ConfigError(fmt::format("{}: {}: {} is needed, not a map", place, full_key, option_type_text(option)));
  }
}

}  // namespace bertft
