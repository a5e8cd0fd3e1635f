// Lines of a text source. They lie in the arena of the table being filled, so cells can be views into them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "data/text_arena.h"
#include "data/text_source.h"

namespace bertft {

struct Line {
  std::string_view text;  // without its LF; a CR before the LF is still there
  int64_t number = 0;     // from 1
  bool has_end = false;   // false for a last line without LF

  bool ends_in_crlf() const { return has_end && !text.empty() && text.back() == '\r'; }
};

// `text` without one CR at its end.
std::string_view without_cr(std::string_view text);

class LineReader {
 public:
  explicit LineReader(TextSource source) : source_(std::move(source)) {}

  // The next line, in `arena`, of any length. False at the end. A text that ends in LF has no empty line behind it.
  bool next(Line& line, TextArena& arena);

  // Puts a line back: the next call returns it. Lines are put back last one first.
  void unread(const Line& line) { unread_.push_front(line); }

  // Moves what was read ahead to another arena, after which the old one may go. Lines handed out are not moved.
  void carry_over(TextArena& arena);

  int64_t lines() const { return number_; }
  int64_t crlf_lines() const { return crlf_lines_; }
  const TextSource& source() const { return source_; }

 private:
  bool read_line(Line& line, TextArena& arena);

  TextSource source_;
  std::string_view rest_;  // of the present block, in the arena
  std::string block_;
  std::deque<Line> unread_;
  int64_t number_ = 0;
  int64_t crlf_lines_ = 0;
};

}  // namespace bertft
