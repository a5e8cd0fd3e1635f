#include "core/fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace bertft {
namespace {

constexpr const char* kVariable = "BERTFT_FAULT";
constexpr const char* kForms =
    "nan:rank=R,step=S,param=NAME,index=I or inf:... with the same keys (index within the parameter, from 0; steps=N "
    "for N steps in a row), or slow:rank=R,step=S,ms=T";

struct Kind {
  std::string_view name;
  std::vector<std::string_view> keys;
};

const std::array<Kind, 3>& kinds() {
  static const std::array<Kind, 3> all = {{{"nan", {"rank", "step", "param", "index", "steps"}},
                                           {"inf", {"rank", "step", "param", "index", "steps"}},
                                           {"slow", {"rank", "step", "ms"}}}};
  return all;
}

}  // namespace

std::string WantedFault::text(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end())
    throw ConfigError(fmt::format("{}: {} needs {}=...; write {}", kVariable, kind, key, kForms));
  return found->second;
}

int64_t WantedFault::number(const std::string& key) const {
  const std::string digits = text(key);
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || stop != digits.data() + digits.size() || value < 0) {
    throw ConfigError(fmt::format("{}: {}={} is not a number from 0; write {}", kVariable, key, digits, kForms));
  }
  return value;
}

WantedFault parse_fault(const std::string& text) {
  const size_t colon = text.find(':');
  WantedFault fault{text.substr(0, colon), {}};
  const auto kind =
      std::find_if(kinds().begin(), kinds().end(), [&](const Kind& one) { return one.name == fault.kind; });
  if (kind == kinds().end()) {
    throw ConfigError(fmt::format("{}: unknown kind '{}'; write {}", kVariable, fault.kind, kForms));
  }
  std::istringstream parts(colon == std::string::npos ? "" : text.substr(colon + 1));
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    const bool is_known = std::find(kind->keys.begin(), kind->keys.end(), key) != kind->keys.end();
    if (equals == std::string::npos || !is_known) {
      throw ConfigError(fmt::format("{}: '{}' is not understood; write {}", kVariable, part, kForms));
    }
    fault.values[key] = part.substr(equals + 1);
  }
  return fault;
}

std::optional<WantedFault> wanted_fault() {
  const char* text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return parse_fault(text);
}

}  // namespace bertft
