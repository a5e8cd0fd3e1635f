// Values that tests/golden/core/make_known_answers.py computed from the definitions, without this project's code.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/files.h"

namespace bertft::test {

inline const nlohmann::json& known_answers() {
  static const nlohmann::json answers = nlohmann::json::parse(read_file("tests/golden/core/known_answers.json"));
  return answers;
}

// 64-bit words stand in the file as texts: JSON readers disagree about large numbers.
inline uint64_t word(const nlohmann::json& text) { return std::stoull(text.get<std::string>()); }

}  // namespace bertft::test
