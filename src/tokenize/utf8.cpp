#include "tokenize/utf8.h"

#include <cstring>

namespace bertft {
namespace {

unsigned byte_at(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }

// What may follow a lead byte: how many continuation bytes, and the range of the first of them (the others: 80..BF).
struct LeadByte {
  uint32_t continuations;  // 0: not a lead byte
  unsigned first_min;
  unsigned first_max;
};

LeadByte lead_byte(unsigned byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};  // no surrogates
  if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};  // nothing above U+10FFFF
  return {0, 0, 0};
}

// The first byte at or after `at` that is not ASCII.
size_t skip_ascii(std::string_view text, size_t at) {
  while (at + 8 <= text.size()) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    if ((word & 0x8080808080808080ULL) != 0) break;
    at += 8;
  }
  while (at < text.size() && byte_at(text, at) < 0x80) ++at;
  return at;
}

}  // namespace

DecodedChar decode_long_utf8(std::string_view text, size_t at) {
  const unsigned lead = byte_at(text, at);
  // Most characters of East Asian texts: three bytes, with nothing special about the second.
  if (lead >= 0xE1 && lead <= 0xEC && at + 2 < text.size()) {
    const unsigned second = byte_at(text, at + 1);
    const unsigned third = byte_at(text, at + 2);
    if ((second & 0xC0) == 0x80 && (third & 0xC0) == 0x80) {
      return {static_cast<char32_t>((lead & 0xF) << 12 | (second & 0x3F) << 6 | (third & 0x3F)), 3, true};
    }
  }
  const LeadByte rule = lead_byte(lead);
  if (rule.continuations == 0) return {kReplacementCharacter, 1, false};
  char32_t code = static_cast<char32_t>(lead & (0x3FU >> rule.continuations));
  for (uint32_t i = 1; i <= rule.continuations; ++i) {
    if (at + i >= text.size()) return {kReplacementCharacter, i, false};
    const unsigned byte = byte_at(text, at + i);
    const unsigned min = i == 1 ? rule.first_min : 0x80;
    const unsigned max = i == 1 ? rule.first_max : 0xBF;
    if (byte < min || byte > max) return {kReplacementCharacter, i, false};
    code = (code << 6) | (byte & 0x3F);
  }
  return {code, rule.continuations + 1, true};
}

void append_utf8(char32_t code, std::string* out) {
  char bytes[4];
  out->append(bytes, encode_utf8(code, bytes));
}

bool is_valid_utf8(std::string_view text) {
  for (size_t at = skip_ascii(text, 0); at < text.size(); at = skip_ascii(text, at)) {
    const DecodedChar next = decode_utf8(text, at);
    if (!next.is_valid) return false;
    at += next.bytes;
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text, size_t* count) {
  std::string out;
  out.reserve(text.size());
  size_t copied = 0;
  for (size_t at = skip_ascii(text, 0); at < text.size(); at = skip_ascii(text, at)) {
    const DecodedChar next = decode_utf8(text, at);
    if (!next.is_valid) {
      out.append(text.substr(copied, at - copied));
      append_utf8(kReplacementCharacter, &out);
      copied = at + next.bytes;
      if (count != nullptr) ++*count;
    }
    at += next.bytes;
  }
  out.append(text.substr(copied));
  return out;
}

}  // namespace bertft
