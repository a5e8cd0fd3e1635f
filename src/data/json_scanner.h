// Walks over the members of JSON objects without building a tree, so that values keep the form they were written in
// and texts that are almost JSON (halves of surrogate pairs, invalid UTF-8) can be mended instead of refused.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "data/text_arena.h"

namespace bertft {

enum class JsonKind { kString, kNumber, kBoolean, kNull, kObject, kArray };

struct JsonMember {
  std::string_view key;  // as written, without its quotes
  JsonKind kind = JsonKind::kNull;
  std::string_view value;  // as written, strings with their quotes
};

// The members of one object in order. The grammar is that of RFC 8259, checked down to the leaves of each value, which
// are nested as deep as memory goes (no recursion); bytes above 7F in strings are not looked at.
class JsonObject {
 public:
  // `text` is the object, with blanks around it.
  explicit JsonObject(std::string_view text) : text_(text) {}

  // False behind the last member, and at a fault: then fault() says what was expected, and where.
  bool next(JsonMember& member);

  // "" while all is well.
  const std::string& fault() const { return fault_; }

 private:
  bool open();
  bool close();
  bool read_member(JsonMember& member);
  bool fail(const std::string& reason);
  bool skip_value(JsonKind& kind);
  bool skip_scalar(JsonKind& kind);
  bool skip_string();
  bool skip_escape();
  bool skip_number();
  bool skip_word(std::string_view word);
  void skip_blanks();
  bool take(char c);
  bool is_at_end() const { return at_ >= text_.size(); }

  std::string_view text_;
  size_t at_ = 0;
  bool is_open_ = false;
  bool has_members_ = false;
  std::string fault_;
};

// The text of a string without quotes, as written: escapes are resolved; half of a surrogate pair becomes kInvalidByte.
// A view into `written` when there is no escape, else a copy in `arena`. REQUIRES that JsonObject accepted it.
std::string_view json_text(std::string_view written, TextArena& arena);

// A copy of a value without blanks outside strings. REQUIRES that JsonObject accepted it.
std::string json_compact(std::string_view value);

// A copy with each escape of half a surrogate pair replaced by that of U+FFFD; `*count` grows by their number.
std::string json_with_whole_pairs(std::string_view text, size_t* count);

}  // namespace bertft
