// Decoding, encoding, and replacing what is not UTF-8: expected values are those of Python's errors='replace'.
#include "tokenize/utf8.h"

#include <string>

#include "tests/support/test.h"

namespace bertft {
namespace {

const std::string kBad = "\xEF\xBF\xBD";

struct Case {
  std::string bytes;
  std::string expected;
  size_t replaced;
};

}  // namespace

TEST_CASE("invalid UTF-8 becomes one replacement character for each maximal part") {
  const Case cases[] = {
      {"", "", 0},
      {"plain ASCII, longer than eight bytes", "plain ASCII, longer than eight bytes", 0},
      {"\u00e9\u4eba\U0001F600", "\u00e9\u4eba\U0001F600", 0},
      {"\uFFFD", "\uFFFD", 0},
      {"a\x80"
       "b",
       "a" + kBad + "b", 1},
      {"\xC0\xAF", kBad + kBad, 2},  // overlong
      {"\xC1\xBF", kBad + kBad, 2},
      {"\xE0\x80\xAF", kBad + kBad + kBad, 3},             // overlong
      {"\xF0\x80\x80\xAF", kBad + kBad + kBad + kBad, 4},  // overlong
      {"\xED\xA0\x80", kBad + kBad + kBad, 3},             // surrogate
      {"\xED\x9F\xBF", "\xED\x9F\xBF", 0},                 // the last before the surrogates
      {"\xF4\x90\x80\x80", kBad + kBad + kBad + kBad, 4},  // above U+10FFFF
      {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF", 0},         // U+10FFFF
      {"\xF5\x80", kBad + kBad, 2},
      {"\xE4\xBA", kBad, 1},  // cut at the end
      {"\xF0\x9F\x98", kBad, 1},
      {"\xF0\x9F\x98"
       "a",
       kBad + "a", 1},  // cut by another character
      {"\xE4\xBA\xE4\xBA\xBA", kBad + "\u4eba", 1},
      {"\xC3\xC3\xA9", kBad + "\u00e9", 1},
      {"12345678\xFF"
       "12345678",
       "12345678" + kBad + "12345678", 1},
      {std::string("a\0b", 3), std::string("a\0b", 3), 0},
  };
  for (const Case& item : cases) {
    INFO(item.bytes);
    size_t replaced = 0;
    CHECK(replace_invalid_utf8(item.bytes, &replaced) == item.expected);
    CHECK(replaced == item.replaced);
    CHECK(is_valid_utf8(item.bytes) == (item.replaced == 0));
    CHECK(is_valid_utf8(item.expected));
  }
}

TEST_CASE("every scalar value survives encoding and decoding") {
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code == 0xD800) code = 0xE000;
    std::string text;
    append_utf8(code, &text);
    const DecodedChar decoded = decode_utf8(text, 0);
    if (decoded.code != code || decoded.bytes != text.size() || !decoded.is_valid)
      FAIL("U+" << std::hex << static_cast<uint32_t>(code));
  }
}

}  // namespace bertft
