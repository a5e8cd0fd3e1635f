#include "tokenize/vocab.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "tokenize/unicode_tables.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

constexpr int64_t kMaxPieces = 1 << 24;  // a hundred times the largest vocabulary in use; a guard against absurd ids

bool is_space(char32_t code) { return (unicode::char_class(code).flags & unicode::kSpace) != 0; }

// `line` without white space (as Unicode has it) at its end.
std::string_view trim_end(std::string_view line) {
  while (!line.empty()) {
    size_t at = line.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80) --at;
    if (!is_space(decode_utf8(line, at).code)) break;
    line = line.substr(0, at);
  }
  return line;
}

void refuse_what_is_no_vocabulary(std::string_view content, const std::string& path) {
  const std::string impostor = explain_impostor(content.substr(0, 512), path);
  if (!impostor.empty()) throw DataError(impostor);
  if (content.empty())
    throw DataError(fmt::format("{}: the vocabulary is empty. Copy it again from where the model came from", path));
  if (content.substr(0, 3) == "\xEF\xBB\xBF") {
    throw DataError(
        fmt::format("{}:1: the file starts with a byte order mark, which would become part of the first token. Save it "
                    "as UTF-8 without one",
                    path));
  }
  if (content.find('\n') == std::string_view::npos && content.find('\r') != std::string_view::npos) {
    throw DataError(fmt::format(
        "{}:1: the lines end in CR alone, so the file reads as a single token. Convert the line ends to LF", path));
  }
}

}  // namespace

Vocab Vocab::from_text(std::string_view content, const std::string& path) {
  refuse_what_is_no_vocabulary(content, path);
  Vocab vocab;
  std::vector<int32_t> ids;
  for (size_t begin = 0; begin < content.size();) {
    const size_t end = std::min(content.find('\n', begin), content.size());
    const std::string_view line = content.substr(begin, end - begin);
    if (!is_valid_utf8(line)) {
      throw DataError(fmt::format("{}:{}: not UTF-8: \"{}\". Save the vocabulary as UTF-8", path,
                                  vocab.pieces_.size() + 1, excerpt(replace_invalid_utf8(line))));
    }
    vocab.has_crlf_ = vocab.has_crlf_ || (!line.empty() && line.back() == '\r');
    ids.push_back(static_cast<int32_t>(vocab.pieces_.size()));
    vocab.pieces_.emplace_back(trim_end(line));
    if (static_cast<int64_t>(vocab.pieces_.size()) > kMaxPieces) {
      throw DataError(fmt::format("{}: more than {} lines: this is no vocabulary", path, kMaxPieces));
    }
    begin = end + 1;
  }
  vocab.build_sorted(ids);
  return vocab;
}

Vocab Vocab::from_ids(const std::vector<std::pair<std::string, int64_t>>& pieces, const std::string& path) {
  if (pieces.empty())
    throw DataError(fmt::format("{}: the vocabulary is empty. Copy it again from where the model came from", path));
  Vocab vocab;
  std::vector<int32_t> ids;
  for (const auto& [piece, id] : pieces) {
    if (id < 0 || id >= kMaxPieces) {
      throw DataError(fmt::format("{}: the id of \"{}\" is {}, which is out of range", path, excerpt(piece), id));
    }
    if (static_cast<size_t>(id) >= vocab.pieces_.size()) vocab.pieces_.resize(static_cast<size_t>(id) + 1);
    vocab.pieces_[static_cast<size_t>(id)] = piece;
    ids.push_back(static_cast<int32_t>(id));
  }
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice != ids.end()) {
    throw DataError(
        fmt::format("{}: two tokens have the id {}, one of them \"{}\"", path, *twice, excerpt(vocab.piece(*twice))));
  }
  vocab.build_sorted(ids);
  return vocab;
}

void Vocab::build_sorted(const std::vector<int32_t>& ids_with_piece) {
  sorted_.reserve(ids_with_piece.size());
  for (const int32_t id : ids_with_piece) sorted_.emplace_back(piece(id), id);
  std::sort(sorted_.begin(), sorted_.end());
  // Of equal pieces the one with the largest id comes last, and counts.
  std::vector<std::pair<std::string_view, int32_t>> last;
  last.reserve(sorted_.size());
  for (const auto& entry : sorted_) {
    if (!last.empty() && last.back().first == entry.first) last.pop_back();
    last.push_back(entry);
  }
  sorted_ = std::move(last);
  different_pieces_ = static_cast<int32_t>(sorted_.size());
}

int32_t Vocab::find(std::string_view piece) const {
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), piece,
                                      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  return found != sorted_.end() && found->first == piece ? found->second : -1;
}

}  // namespace bertft
