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

// Decodes the character at `text[at]`, which is not ASCII; at < text.size().
DecodedChar decode_long_utf8(std::string_view text, size_t at);

// Decodes the character at `text[at]`; at < text.size().
inline DecodedChar decode_utf8(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  return lead < 0x80 ? DecodedChar{lead, 1, true} : decode_long_utf8(text, at);
}

// Writes `code` (a Unicode scalar value) to `bytes` [4]; returns how many of them it takes.
inline size_t encode_utf8(char32_t code, char* bytes) {
  const auto tail = [&](size_t at, int shift) { bytes[at] = static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    bytes[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    bytes[0] = static_cast<char>(0xC0 | code >> 6);
    tail(1, 0);
    return 2;
  }
  if (code < 0x10000) {
    bytes[0] = static_cast<char>(0xE0 | code >> 12);
    tail(1, 6);
    tail(2, 0);
    return 3;
  }
  bytes[0] = static_cast<char>(0xF0 | code >> 18);
  tail(1, 12);
  tail(2, 6);
  tail(3, 0);
  return 4;
}

// Appends `code` (a Unicode scalar value) to `out`.
void append_utf8(char32_t code, std::string* out);

// True when all of `text` is well-formed.
bool is_valid_utf8(std::string_view text);

// Copies `text` with each maximal invalid part replaced by U+FFFD; adds the number of replacements to `*count` if
// given.
std::string replace_invalid_utf8(std::string_view text, size_t* count = nullptr);

}  // namespace bertft
