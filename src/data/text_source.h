// The text of a data file as blocks of UTF-8, whatever its encoding, in bounded memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/byte_source.h"

namespace bertft {

// Stands for a part of the input that is no character of its encoding, such as half a UTF-16 pair: a byte that no UTF-8
// holds, so that such parts fall under data.invalid_utf8 as invalid bytes of a UTF-8 file do.
inline constexpr char kInvalidByte = '\xFF';

// Turns one encoding into UTF-8. Parts that are no characters become kInvalidByte.
class TextDecoder {
 public:
  virtual ~TextDecoder() = default;
  // Appends the text of `bytes`, which follow those of the last call. An incomplete character at their end is kept for
  // the next call, or invalid when `is_last`.
  virtual void decode(std::string_view bytes, bool is_last, std::string& text) = 0;
};

std::unique_ptr<TextDecoder> utf16_decoder(bool is_big_endian);
// Uses iconv of the C library. Throws DataError when it does not know the encoding.
std::unique_ptr<TextDecoder> gb18030_decoder();

class TextSource {
 public:
  // `encoding` is utf-8, utf-16 (a byte order mark is needed) or gb18030. A byte order mark of UTF-8 or UTF-16 wins
  // over it. Reads the start of the file. Throws DataError for content that no text file has (archives, pages of an
  // error, UTF-32), and as the source does.
  TextSource(std::string path, std::unique_ptr<ByteSource> bytes, const std::string& encoding, size_t block_bytes);

  // The next block, about block_bytes of text; false at the end. UTF-8 is passed on as it is, also when it is invalid,
  // and characters may be cut between blocks.
  bool next(std::string& block);

  const std::string& path() const { return path_; }
  // What the text was decoded from: "utf-8", "utf-16le", "utf-16be" or "gb18030".
  const std::string& encoding() const { return encoding_; }
  bool has_byte_order_mark() const { return has_mark_; }

 private:
  void choose_encoding(const std::string& wanted);
  size_t read_into_start(size_t bytes);
  void drop_converted_mark(std::string& block);

  std::string path_;
  std::unique_ptr<ByteSource> bytes_;
  const size_t block_bytes_;
  std::string start_;  // read ahead, not yet handed out
  std::string encoding_;
  bool has_mark_ = false;
  bool is_first_text_ = true;
  bool is_at_end_ = false;
  std::unique_ptr<TextDecoder> decoder_;  // null: UTF-8
};

}  // namespace bertft
