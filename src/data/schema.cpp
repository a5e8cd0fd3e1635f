#include "data/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr std::array<std::string_view, 4> kTypes = {"int", "float", "str", "base64"};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

[[noreturn]] void fail(std::string_view part, const std::string& reason) {
  throw ConfigError(fmt::format("data.schema: '{}': {}; write name:type:length, for example label:str:1,text:str:1",
                                excerpt(part), reason));
}

bool is_length(std::string_view text) {
  int64_t length = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  return error == std::errc{} && stop == text.data() + text.size() && length >= 1;
}

// The name of one name:type:length. A name may hold colons.
std::string name_of(std::string_view part) {
  const size_t last = part.rfind(':');
  const size_t middle = last == std::string_view::npos || last == 0 ? last : part.rfind(':', last - 1);
  if (middle == std::string_view::npos || last == 0) fail(part, "it has not three parts");
  const std::string_view name = trimmed(part.substr(0, middle));
  const std::string_view type = trimmed(part.substr(middle + 1, last - middle - 1));
  if (name.empty()) fail(part, "the name is empty");
  if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) fail(part, "types are int, float, str and base64");
  if (!is_length(trimmed(part.substr(last + 1)))) fail(part, "the length is no number from 1 on");
  return std::string(name);
}

}  // namespace

std::vector<std::string> schema_names(const std::string& schema) {
  std::vector<std::string> names;
  std::string_view rest = schema;
  while (true) {
    const size_t comma = rest.find(',');
    names.push_back(name_of(trimmed(rest.substr(0, comma))));
    if (std::count(names.begin(), names.end(), names.back()) > 1) {
      throw ConfigError(fmt::format("data.schema: the name '{}' occurs twice; rename one", excerpt(names.back())));
    }
    if (comma == std::string_view::npos) return names;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace bertft
