// The encodings other than UTF-8 in which Windows programs and Chinese data sets store text.
#include <iconv.h>

#include <cerrno>
#include <string>

#include "core/error.h"
#include "data/text_source.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

class Utf16Decoder final : public TextDecoder {
 public:
  explicit Utf16Decoder(bool is_big_endian) : is_big_endian_(is_big_endian) {}

  void decode(std::string_view bytes, bool is_last, std::string& text) override {
    for (const char byte : bytes) {
      if (!has_odd_byte_) {
        odd_byte_ = static_cast<unsigned char>(byte);
        has_odd_byte_ = true;
        continue;
      }
      const auto second = static_cast<unsigned char>(byte);
      has_odd_byte_ = false;
      add_unit(is_big_endian_ ? odd_byte_ << 8 | second : second << 8 | odd_byte_, text);
    }
    if (!is_last) return;
    end_high_half(text);
    if (has_odd_byte_) text += kInvalidByte;
    has_odd_byte_ = false;
  }

 private:
  void add_unit(unsigned unit, std::string& text) {
    const bool is_low_half = unit >= 0xDC00 && unit <= 0xDFFF;
    if (is_low_half && high_half_ != 0) {
      append_utf8(0x10000 + ((high_half_ - 0xD800) << 10) + (unit - 0xDC00), &text);
      high_half_ = 0;
      return;
    }
    end_high_half(text);
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      high_half_ = unit;
    } else if (is_low_half) {
      text += kInvalidByte;
    } else {
      append_utf8(unit, &text);
    }
  }

  void end_high_half(std::string& text) {
    if (high_half_ != 0) text += kInvalidByte;
    high_half_ = 0;
  }

  const bool is_big_endian_;
  bool has_odd_byte_ = false;
  unsigned odd_byte_ = 0;
  char32_t high_half_ = 0;  // waits for its low half
};

class Gb18030Decoder final : public TextDecoder {
 public:
  Gb18030Decoder() : converter_(::iconv_open("UTF-8", "GB18030")) {
    if (!is_open()) {
      throw DataError("data.encoding: the C library cannot convert gb18030 here. Convert the file to UTF-8 elsewhere");
    }
  }
  ~Gb18030Decoder() override {
    if (is_open()) ::iconv_close(converter_);
  }
  Gb18030Decoder(const Gb18030Decoder&) = delete;
  Gb18030Decoder& operator=(const Gb18030Decoder&) = delete;

  void decode(std::string_view bytes, bool is_last, std::string& text) override {
    rest_ += bytes;
    char* from = rest_.data();
    size_t left = rest_.size();
    while (left > 0) {
      char part[4096];
      char* to = part;
      size_t room = sizeof part;
      const size_t result = ::iconv(converter_, &from, &left, &to, &room);
      text.append(part, sizeof part - room);
      if (result != static_cast<size_t>(-1) || errno == E2BIG) continue;
      if (errno == EINVAL && !is_last) break;  // the next bytes complete the character
      text += kInvalidByte;
      ++from;
      --left;
    }
    rest_.erase(0, rest_.size() - left);
  }

 private:
  bool is_open() const { return converter_ != reinterpret_cast<iconv_t>(-1); }

  iconv_t converter_;
  std::string rest_;  // an incomplete character
};

}  // namespace

std::unique_ptr<TextDecoder> utf16_decoder(bool is_big_endian) { return std::make_unique<Utf16Decoder>(is_big_endian); }
std::unique_ptr<TextDecoder> gb18030_decoder() { return std::make_unique<Gb18030Decoder>(); }

}  // namespace bertft
