// The list of pieces of a WordPiece vocabulary and their ids, from vocab.txt or from the "vocab" of a tokenizer.json.
// Reads them exactly as the reference does and refuses files that are something else, with the reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bertft {

// Immutable after construction. Errors: DataError naming file and line.
class Vocab {
 public:
  // vocab.txt: one piece a line, id = line index. Lines end at LF only (U+2028 and the like are part of a piece); white
  // space at the end of a line is no part of it, so CRLF files read right. A blank line, the last one too, takes an id
  // that no text can yield. When a piece occurs twice, its last line counts. `path` is for messages.
  static Vocab from_text(std::string_view content, const std::string& path);

  // Pieces with explicit ids (tokenizer.json); ids may have gaps. `path` is for messages.
  static Vocab from_ids(const std::vector<std::pair<std::string, int64_t>>& pieces, const std::string& path);

  // 1 + the largest id. This is what an embedding must have rows for.
  int32_t size() const { return static_cast<int32_t>(pieces_.size()); }

  // How many different pieces there are; where the reference starts to number tokens that are added later.
  int32_t different_pieces() const { return different_pieces_; }

  // The piece of an id; "" for ids of blank lines and gaps. 0 <= id < size().
  const std::string& piece(int32_t id) const { return pieces_[static_cast<size_t>(id)]; }

  // Every different piece with the id that counts, sorted by bytes.
  const std::vector<std::pair<std::string_view, int32_t>>& sorted() const { return sorted_; }

  // The id of a piece, or -1.
  int32_t find(std::string_view piece) const;

  // True when the file had CRLF line ends.
  bool has_crlf() const { return has_crlf_; }

  // Movable only: sorted() points into the pieces, which a move of a vector leaves in place.
  Vocab(Vocab&&) = default;
  Vocab& operator=(Vocab&&) = default;
  Vocab(const Vocab&) = delete;
  Vocab& operator=(const Vocab&) = delete;

 private:
  Vocab() = default;
  void build_sorted(const std::vector<int32_t>& ids_with_piece);

  std::vector<std::string> pieces_;
  std::vector<std::pair<std::string_view, int32_t>> sorted_;
  int32_t different_pieces_ = 0;
  bool has_crlf_ = false;
};

}  // namespace bertft
