// Numbers and texts to and from bytes, little-endian on every machine; what is too short or too long is a CommError.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace bertft::native {

class ByteWriter {
 public:
  template <typename Integer>
  void number(Integer value) {
    auto bits = static_cast<uint64_t>(value);
    for (size_t i = 0; i < sizeof(Integer); ++i, bits >>= 8) {
      bytes_.push_back(static_cast<char>(bits & 0xff));
    }
  }
  void raw(std::string_view text) { bytes_.append(text); }
  void text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    raw(value);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// `what` names the bytes in messages.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const char* what) : bytes_(bytes), what_(what) {}

  template <typename Integer>
  Integer number() {
    const std::string_view part = raw(sizeof(Integer));
    uint64_t bits = 0;
    for (size_t i = sizeof(Integer); i > 0; --i) {
      bits = bits << 8 | static_cast<unsigned char>(part[i - 1]);
    }
    return static_cast<Integer>(bits);
  }
  std::string_view raw(size_t count) {
    if (count > bytes_.size()) throw CommError(std::string(what_) + " of a peer ends too early: is it this program?");
    const std::string_view part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return part;
  }
  std::string text() { return std::string(raw(number<uint32_t>())); }
  void expect_end() const {
    if (!bytes_.empty()) throw CommError(std::string(what_) + " of a peer is too long: is it this program?");
  }

 private:
  std::string_view bytes_;
  const char* what_;
};

}  // namespace bertft::native
