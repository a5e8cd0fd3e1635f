// The million random texts of tests/golden/tokenize/random_texts.py, which defines them.
#pragma once

#include <cstdint>
#include <string>

namespace bertft::test {

std::string random_text(uint64_t index);

}  // namespace bertft::test
