#include "core/fault.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <sstream>

#include "core/error.h"

namespace bertft {
namespace {

constexpr const char* kVariable = "BERTFT_FAULT";
constexpr const char* kForm =
    "nan:rank=R,step=S,param=NAME,index=I or inf:... with the same keys (index within the parameter, from 0; steps=N "
    "for "
    "N steps in a row)";

}  // namespace

std::string WantedFault::text(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end())
    throw ConfigError(fmt::format("{}: {} needs {}=...; write {}", kVariable, kind, key, kForm));
  return found->second;
}

int64_t WantedFault::number(const std::string& key) const {
  const std::string digits = text(key);
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || stop != digits.data() + digits.size() || value < 0) {
    throw ConfigError(fmt::format("{}: {}={} is not a number from 0; write {}", kVariable, key, digits, kForm));
  }
  return value;
}

WantedFault parse_fault(const std::string& text) {
  const size_t colon = text.find(':');
  WantedFault fault{text.substr(0, colon), {}};
  if (fault.kind != "nan" && fault.kind != "inf") {
    throw ConfigError(fmt::format("{}: unknown kind '{}'; write {}", kVariable, fault.kind, kForm));
  }
  std::istringstream parts(colon == std::string::npos ? "" : text.substr(colon + 1));
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    const bool is_known = key == "rank" || key == "step" || key == "param" || key == "index" || key == "steps";
    if (equals == std::string::npos || !is_known) {
      throw ConfigError(fmt::format("{}: '{}' is not understood; write {}", kVariable, part, kForm));
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
