// Encodings, in blocks of every size: the text does not depend on where the blocks end.
#include "data/text_source.h"

#include "core/error.h"
#include "tests/unit/data/table_helpers.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using namespace std::string_literals;

struct Decoded {
  std::string text;
  std::string encoding;
  bool has_mark;
};

Decoded decode(const std::string& bytes, const std::string& encoding, size_t block_bytes) {
  TextSource source("f", memory_source(bytes), encoding, block_bytes);
  Decoded decoded{"", source.encoding(), false};
  for (std::string block; source.next(block);) {
    REQUIRE_FALSE(block.empty());
    decoded.text += block;
  }
  decoded.has_mark = source.has_byte_order_mark();
  return decoded;
}

struct Case {
  std::string what;
  std::string bytes;
  std::string wanted;
  std::string text;
  std::string encoding;
  bool has_mark;
};

// "aä你😀\n" in each encoding.
TEST_CASE("Encodings") {
  const std::string text = "a\xC3\xA4\xE4\xBD\xA0\xF0\x9F\x98\x80\n";
  const std::string little = "a\0\xE4\0\x60\x4F\x3D\xD8\x00\xDE\n\0"s;
  const std::string big = "\0a\0\xE4\x4F\x60\xD8\x3D\xDE\x00\0\n"s;
  const std::string chinese = "a\x81\x30\x8A\x31\xC4\xE3\x94\x39\xFC\x36\n";
  const std::vector<Case> cases = {
      {"UTF-8", text, "utf-8", text, "utf-8", false},
      {"UTF-8 with a mark", "\xEF\xBB\xBF" + text, "utf-8", text, "utf-8", true},
      {"a mark wins", "\xEF\xBB\xBF" + text, "gb18030", text, "utf-8", true},
      {"invalid UTF-8 is passed on", "a\xFF\xC3", "utf-8", "a\xFF\xC3", "utf-8", false},
      {"UTF-16 little", "\xFF\xFE" + little, "utf-8", text, "utf-16le", true},
      {"UTF-16 big", "\xFE\xFF" + big, "utf-16", text, "utf-16be", true},
      {"UTF-16, half a pair", "\xFF\xFE\x3D\xD8"s + "b\0"s, "utf-8",
       "\xFF"
       "b",
       "utf-16le", true},
      {"UTF-16, the other half", "\xFF\xFE\x00\xDE"s + "b\0"s, "utf-8",
       "\xFF"
       "b",
       "utf-16le", true},
      {"UTF-16, two high halves", "\xFF\xFE\x3D\xD8\x3D\xD8\x00\xDE"s, "utf-8", "\xFF\xF0\x9F\x98\x80", "utf-16le",
       true},
      {"UTF-16, cut in a pair",
       "\xFF\xFE"
       "a\0\x3D\xD8"s,
       "utf-8", "a\xFF", "utf-16le", true},
      {"UTF-16, cut in a unit",
       "\xFF\xFE"
       "a\0b"s,
       "utf-8", "a\xFF", "utf-16le", true},
      {"UTF-16, a mark alone", "\xFF\xFE", "utf-16", "", "utf-16le", true},
      {"GB18030", chinese, "gb18030", text, "gb18030", false},
      {"GB18030 with a mark", "\x84\x31\x95\x33" + chinese, "gb18030", text, "gb18030", true},
      {"GB18030, invalid",
       "a\xFF"
       "b\x81",
       "gb18030",
       "a\xFF"
       "b\xFF",
       "gb18030", false},
      {"nothing", "", "utf-8", "", "utf-8", false},
  };
  for (const Case& one : cases) {
    for (const size_t block_bytes : {1, 2, 3, 5, 7, 64, 1 << 20}) {
      INFO(one.what << ", blocks of " << block_bytes);
      const Decoded decoded = decode(one.bytes, one.wanted, block_bytes);
      REQUIRE(decoded.text == one.text);
      REQUIRE(decoded.encoding == one.encoding);
      REQUIRE(decoded.has_mark == one.has_mark);
    }
  }
}

TEST_CASE("Every character survives UTF-16, and every block size gives the same text") {
  std::string text;
  std::string bytes = "\xFF\xFE";
  const auto put = [&](char32_t unit) {
    bytes += static_cast<char>(unit & 0xFF);
    bytes += static_cast<char>(unit >> 8);
  };
  for (char32_t code = 1; code < 0x110000; code += code < 0x3000 ? 1 : 977) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    append_utf8(code, &text);
    if (code < 0x10000) {
      put(code);
    } else {
      put(0xD800 + ((code - 0x10000) >> 10));
      put(0xDC00 + ((code - 0x10000) & 0x3FF));
    }
  }
  for (const size_t block_bytes : {1, 1000, 4097}) REQUIRE(decode(bytes, "utf-8", block_bytes).text == text);
}

TEST_CASE("Content that is no text is refused by name") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\x1F\x8B\x08", "gzip"},
      {"PK\x03\x04", "zip"},
      {"PAR1x", "Parquet"},
      {"\x28\xB5\x2F\xFD", "zstd"},
      {"\xFF\xFE\0\0"s, "UTF-32"},
      {"version https://git-lfs.github.com/spec/v1\nsize 5\n", "Git LFS"},
      {"<!DOCTYPE html>", "web page"},
  };
  for (const auto& [bytes, part] : cases) {
    REQUIRE_THAT(error_text<DataError>([&] { decode(bytes, "utf-8", 1); }), Contains(part) && Contains("f"));
  }
  REQUIRE_THAT(error_text<DataError>([] { decode("abc", "utf-16", 1); }), Contains("byte order mark"));
}

}  // namespace
}  // namespace bertft
