#include "data/text_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/files.h"

namespace bertft {
namespace {

constexpr size_t kLookedAt = 1000;  // bytes from the start that betray what a file is
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Content that no text file has.
void refuse_other_content(const std::string& path, std::string_view start) {
  if (const std::string impostor = explain_impostor(start, path); !impostor.empty()) throw DataError(impostor);
  using namespace std::string_view_literals;
  for (const auto& [magic, name] : {std::pair("\x1F\x8B"sv, "gzip"),
                                    {"PK\x03\x04"sv, "zip"},
                                    {"BZh"sv, "bzip2"},
                                    {"\xFD\x37zXZ"sv, "xz"},
                                    {"\x28\xB5\x2F\xFD"sv, "zstd"},
                                    {"PAR1"sv, "Parquet"},
                                    {"ARROW1"sv, "Arrow"},
                                    {"SQLite format 3"sv, "SQLite"},
                                    {"\xD0\xCF\x11\xE0"sv, "Excel"},
                                    {"%PDF-"sv, "PDF"}}) {
    if (start.starts_with(magic)) {
      throw DataError(fmt::format("{}: this is a {} file. Unpack or convert it to TSV, CSV or JSON Lines", path, name));
    }
  }
  if (start.starts_with("\xFF\xFE\0\0"sv) || start.starts_with("\0\0\xFE\xFF"sv)) {
    throw DataError(path + ": UTF-32 is not read. Convert it: iconv -f UTF-32 -t UTF-8");
  }
}

}  // namespace

TextSource::TextSource(std::string path, std::unique_ptr<ByteSource> bytes, const std::string& encoding,
                       size_t block_bytes)
    : path_(std::move(path)), bytes_(std::move(bytes)), block_bytes_(block_bytes) {
  while (start_.size() < kLookedAt && read_into_start(kLookedAt - start_.size()) > 0) {
  }
  refuse_other_content(path_, start_);
  choose_encoding(encoding);
}

size_t TextSource::read_into_start(size_t bytes) {
  const size_t size = start_.size();
  start_.resize(size + bytes);
  const size_t got = bytes_->read(start_.data() + size, bytes);
  start_.resize(size + got);
  if (got == 0) is_at_end_ = true;
  return got;
}

void TextSource::choose_encoding(const std::string& wanted) {
  const auto take_mark = [&](std::string_view mark) {
    if (!start_.starts_with(mark)) return false;
    start_.erase(0, mark.size());
    has_mark_ = true;
    return true;
  };
  if (take_mark(kByteOrderMark)) {
    encoding_ = "utf-8";
  } else if (take_mark("\xFF\xFE")) {
    encoding_ = "utf-16le";
    decoder_ = utf16_decoder(false);
  } else if (take_mark("\xFE\xFF")) {
    encoding_ = "utf-16be";
    decoder_ = utf16_decoder(true);
  } else if (wanted == "gb18030") {
    encoding_ = "gb18030";
    decoder_ = gb18030_decoder();
  } else if (wanted == "utf-16") {
    encoding_ = "utf-16";
    if (start_.empty()) return;
    throw DataError(path_ +
                    ": data.encoding is utf-16, but the file does not begin with the byte order mark of UTF-16");
  } else {
    encoding_ = "utf-8";
  }
}

bool TextSource::next(std::string& block) {
  block.clear();
  while (block.empty()) {
    if (start_.empty() && !is_at_end_) read_into_start(block_bytes_);
    if (start_.empty()) {
      if (!decoder_) return false;
      decoder_->decode("", true, block);
      decoder_ = nullptr;
      continue;
    }
    const size_t part = std::min(start_.size(), block_bytes_);
    if (decoder_) {
      decoder_->decode(std::string_view(start_).substr(0, part), false, block);
    } else {
      block.assign(start_, 0, part);
    }
    start_.erase(0, part);
    drop_converted_mark(block);
  }
  return true;
}

// The byte order mark of GB18030 is that of UTF-8 once it is converted. It cannot be cut: it comes out at once.
void TextSource::drop_converted_mark(std::string& block) {
  if (block.empty() || !is_first_text_) return;
  is_first_text_ = false;
  if (encoding_ != "gb18030" || !block.starts_with(kByteOrderMark)) return;
  block.erase(0, kByteOrderMark.size());
  has_mark_ = true;
}

}  // namespace bertft
