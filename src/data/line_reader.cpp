#include "data/line_reader.h"

#include <utility>

namespace bertft {

std::string_view without_cr(std::string_view text) {
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

bool LineReader::next(Line& line, TextArena& arena) {
  if (!unread_.empty()) {
    line = unread_.front();
    unread_.pop_front();
    return true;
  }
  if (!read_line(line, arena)) return false;
  line.number = ++number_;
  if (line.ends_in_crlf()) ++crlf_lines_;
  return true;
}

bool LineReader::read_line(Line& line, TextArena& arena) {
  const size_t end = rest_.find('\n');
  if (end != std::string_view::npos) {
    line.text = rest_.substr(0, end);
    line.has_end = true;
    rest_.remove_prefix(end + 1);
    return true;
  }
  std::string whole(rest_);  // a line that runs over the end of the block
  rest_ = {};
  line.has_end = false;
  while (source_.next(block_)) {
    const size_t stop = block_.find('\n');
    whole.append(block_, 0, stop);
    if (stop == std::string::npos) continue;
    line.has_end = true;
    rest_ = arena.copy(std::string_view(block_).substr(stop + 1));
    break;
  }
  line.text = arena.copy(whole);
  return line.has_end || !whole.empty();
}

void LineReader::carry_over(TextArena& arena) {
  rest_ = arena.copy(rest_);
  for (Line& line : unread_) line.text = arena.copy(line.text);
}

}  // namespace bertft
