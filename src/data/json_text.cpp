// What the pieces that JsonObject cuts out stand for.
#include <charconv>

#include "data/json_scanner.h"
#include "data/text_source.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

constexpr size_t kUnicodeEscape = 6;  // bytes of \uXXXX

char32_t hex_value(std::string_view digits) {
  uint32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

bool is_high_half(char32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low_half(char32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// The value of a \uXXXX at `at`; nothing that is a half if there is none.
char32_t unit_at(std::string_view text, size_t at) {
  const bool is_there = at + kUnicodeEscape <= text.size() && text[at] == '\\' && text[at + 1] == 'u';
  return is_there ? hex_value(text.substr(at + 2, 4)) : 0;
}

char simple_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

// Appends what the escape at `at` stands for; returns its bytes.
size_t resolve_escape(std::string_view text, size_t at, std::string& out) {
  if (text[at + 1] != 'u') {
    out += simple_escape(text[at + 1]);
    return 2;
  }
  const char32_t unit = unit_at(text, at);
  const char32_t second = is_high_half(unit) ? unit_at(text, at + kUnicodeEscape) : 0;
  if (is_low_half(second)) {
    append_utf8(0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00), &out);
    return 2 * kUnicodeEscape;
  }
  if (is_high_half(unit) || is_low_half(unit)) {
    out += kInvalidByte;
  } else {
    append_utf8(unit, &out);
  }
  return kUnicodeEscape;
}

}  // namespace

std::string_view json_text(std::string_view written, TextArena& arena) {
  size_t escape = written.find('\\');
  if (escape == std::string_view::npos) return written;
  std::string text;
  text.reserve(written.size());
  size_t copied = 0;
  for (; escape != std::string_view::npos; escape = written.find('\\', copied)) {
    text.append(written.substr(copied, escape - copied));
    copied = escape + resolve_escape(written, escape, text);
  }
  text.append(written.substr(copied));
  return arena.copy(text);
}

std::string json_compact(std::string_view value) {
  std::string compact;
  compact.reserve(value.size());
  bool is_in_string = false;
  for (size_t at = 0; at < value.size(); ++at) {
    const char c = value[at];
    if (!is_in_string && (c == ' ' || c == '\t' || c == '\r' || c == '\n')) continue;
    compact += c;
    if (c == '"') is_in_string = !is_in_string;
    if (c == '\\' && ++at < value.size()) compact += value[at];
  }
  return compact;
}

std::string json_with_whole_pairs(std::string_view text, size_t* count) {
  std::string whole(text);
  for (size_t at = whole.find('\\'); at != std::string::npos; at = whole.find('\\', at)) {
    const char32_t unit = unit_at(whole, at);
    if (is_high_half(unit) && is_low_half(unit_at(whole, at + kUnicodeEscape))) {
      at += 2 * kUnicodeEscape;
    } else if (is_high_half(unit) || is_low_half(unit)) {
      whole.replace(at, kUnicodeEscape, "\\ufffd");
      at += kUnicodeEscape;
      ++*count;
    } else {
      at += 2;
    }
  }
  return whole;
}

}  // namespace bertft
