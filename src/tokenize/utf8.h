// UTF-8 in and out, and the one rule for bytes that are not UTF-8: each maximal invalid part counts as one U+FFFD,
// as Python's errors='replace' does (Unicode standard, section 3.9, "maximal subpart").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bertft {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

struct DecodedChar {
  char32_t code;   // kReplacementCharacter for an invalid part
  uint32_t bytes;  // how many bytes it covers, at least 1
  bool is_valid;   // false for an invalid part (a well-formed U+FFFD is valid)
};

// Decodes the character at `text[at]`; at < text.size().
DecodedChar decode_utf8(std::string_view text, size_t at);

// Appends `code` (a Unicode scalar value) to `out`.
void append_utf8(char32_t code, std::string* out);

// True when all of `text` is well-formed.
bool is_valid_utf8(std::string_view text);

// Copies `text` with each maximal invalid part replaced by U+FFFD; adds the number of replacements to `*count` if
// given.
std::string replace_invalid_utf8(std::string_view text, size_t* count = nullptr);

}  // namespace bertft
