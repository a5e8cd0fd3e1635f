#include "data/json_scanner.h"

#include <fmt/format.h>

#include <vector>

#include "core/text.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

bool JsonObject::next(JsonMember& member) {
  if (!fault_.empty()) return false;
  if (!is_open_ && !open()) return false;
  skip_blanks();
  if (take('}')) return close();
  if (has_members_ && !take(',')) return fail("',' or '}'");
  skip_blanks();
  return read_member(member);
}

bool JsonObject::open() {
  skip_blanks();
  if (!take('{')) return fail("'{', an object");
  is_open_ = true;
  return true;
}

// Always false: there is no further member.
bool JsonObject::close() {
  skip_blanks();
  if (!is_at_end()) fail("nothing more behind the object");
  return false;
}

bool JsonObject::read_member(JsonMember& member) {
  const size_t key = at_;
  if (is_at_end() || text_[at_] != '"') return fail("a key in double quotes");
  if (!skip_string()) return false;
  member.key = text_.substr(key + 1, at_ - key - 2);
  skip_blanks();
  if (!take(':')) return fail("':'");
  skip_blanks();
  const size_t value = at_;
  if (!skip_value(member.kind)) return false;
  member.value = text_.substr(value, at_ - value);
  has_members_ = true;
  return true;
}

bool JsonObject::fail(const std::string& reason) {
  const std::string found =
      is_at_end() ? "its end" : "'" + excerpt(replace_invalid_utf8(text_.substr(at_, 24)), 20) + "'";
  fault_ = fmt::format("at byte {} {} is expected, found {}", at_ + 1, reason, found);
  return false;
}

// Objects and arrays are walked through with a stack of what closes them.
bool JsonObject::skip_value(JsonKind& kind) {
  if (is_at_end() || (text_[at_] != '{' && text_[at_] != '[')) return skip_scalar(kind);
  kind = text_[at_] == '{' ? JsonKind::kObject : JsonKind::kArray;
  std::string closers;
  bool may_close = false;  // behind an opening bracket
  while (true) {
    skip_blanks();
    if (may_close && take(closers.back())) {
      closers.pop_back();
    } else {
      if (!closers.empty() && closers.back() == '}') {
        if (is_at_end() || text_[at_] != '"') return fail("a key in double quotes");
        if (!skip_string()) return false;
        skip_blanks();
        if (!take(':')) return fail("':'");
        skip_blanks();
      }
      if (!is_at_end() && (text_[at_] == '{' || text_[at_] == '[')) {
        closers += text_[at_++] == '{' ? '}' : ']';
        may_close = true;
        continue;
      }
      JsonKind inner = JsonKind::kNull;
      if (!skip_scalar(inner)) return false;
    }
    skip_blanks();
    while (!closers.empty() && take(closers.back())) {
      closers.pop_back();
      skip_blanks();
    }
    if (closers.empty()) return true;
    if (!take(',')) return fail(fmt::format("',' or '{}'", closers.back()));
    may_close = false;
  }
}

bool JsonObject::skip_scalar(JsonKind& kind) {
  const char c = is_at_end() ? '\0' : text_[at_];
  if (c == '"') {
    kind = JsonKind::kString;
    return skip_string();
  }
  if (c == '-' || is_digit(c)) {
    kind = JsonKind::kNumber;
    return skip_number();
  }
  kind = c == 'n' ? JsonKind::kNull : JsonKind::kBoolean;
  if (c == 'n') return skip_word("null");
  if (c == 't') return skip_word("true");
  if (c == 'f') return skip_word("false");
  return fail("a value");
}

bool JsonObject::skip_string() {
  for (++at_; !is_at_end(); ++at_) {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte == '"') {
      ++at_;
      return true;
    }
    if (byte < 0x20) return fail("a control character in a string to be written as an escape");
    if (byte == '\\' && !skip_escape()) return false;
  }
  return fail("the closing '\"' of a string");
}

// From the backslash to the last character of the escape.
bool JsonObject::skip_escape() {
  const std::string_view rest = text_.substr(at_ + 1, 5);
  if (rest.empty() || std::string_view("\"\\/bfnrtu").find(rest[0]) == std::string_view::npos) {
    return fail("an escape that JSON has");
  }
  if (rest[0] != 'u') {
    at_ += 1;
    return true;
  }
  if (rest.size() < 5) return fail("\\u and four hexadecimal digits");
  for (const char c : rest.substr(1)) {
    if (!is_hex(c)) return fail("\\u and four hexadecimal digits");
  }
  at_ += 5;
  return true;
}

bool JsonObject::skip_number() {
  const auto skip_digits = [&] {
    const size_t begin = at_;
    while (!is_at_end() && is_digit(text_[at_])) ++at_;
    return at_ > begin;
  };
  take('-');
  if (!take('0') && !skip_digits()) return fail("a digit");
  if (take('.') && !skip_digits()) return fail("a digit");
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (!skip_digits()) return fail("a digit");
  }
  return true;
}

bool JsonObject::skip_word(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return fail("a value");
  at_ += word.size();
  return true;
}

void JsonObject::skip_blanks() {
  while (!is_at_end() && is_blank(text_[at_])) ++at_;
}

bool JsonObject::take(char c) {
  if (is_at_end() || text_[at_] != c) return false;
  ++at_;
  return true;
}

}  // namespace bertft
