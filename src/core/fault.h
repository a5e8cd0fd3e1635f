// Faults that somebody asks for, to see what the program does about them: BERTFT_FAULT=kind:key=value,... in the
// environment. Always compiled in, and announced by whoever takes one up.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace bertft {

// Kinds: nan and inf spoil a gradient (train/non_finite_step), slow makes a rank late (train/slow_step).
struct WantedFault {
  std::string kind;
  std::map<std::string, std::string> values;

  // Throw ConfigError when the key is missing or no such number.
  std::string text(const std::string& key) const;
  int64_t number(const std::string& key) const;
};

// Nothing when the variable is not set. Throws ConfigError when it is malformed or names a kind that there is not.
std::optional<WantedFault> wanted_fault();

// The same for a given text.
WantedFault parse_fault(const std::string& text);

}  // namespace bertft
