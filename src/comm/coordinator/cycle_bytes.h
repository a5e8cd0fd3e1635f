// Numbers and texts of the coordinator's messages as bytes, least significant first whatever the machine. The reader
// takes nothing for granted: whatever is not there or does not fit is a CommError that names the message and its
// sender.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bertft {

class CycleBytesWriter {
 public:
  void u8(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void u32(uint32_t value) { put(value, 4); }
  void u64(uint64_t value) { put(value, 8); }
  void i32(int32_t value) { u32(static_cast<uint32_t>(value)); }
  void i64(int64_t value) { u64(static_cast<uint64_t>(value)); }
  void text(std::string_view value);  // u32 length, bytes
  void raw(std::string_view value) { bytes_.append(value); }
  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  std::string take() { return std::move(bytes_); }

 private:
  void put(uint64_t value, int bytes);
  std::string bytes_;
};

class CycleBytesReader {
 public:
  // `bytes` must outlive the reader. `what` is for messages: "request list of rank 3".
  CycleBytesReader(std::string_view bytes, std::string what) : bytes_(bytes), what_(std::move(what)) {}

  uint8_t u8() { return static_cast<uint8_t>(get(1)); }
  uint32_t u32() { return static_cast<uint32_t>(get(4)); }
  uint64_t u64() { return get(8); }
  int32_t i32() { return static_cast<int32_t>(u32()); }
  int64_t i64() { return static_cast<int64_t>(u64()); }
  bool flag();              // a byte that is 0 or 1
  std::string_view text();  // a view into the bytes
  std::string_view rest();  // all that is left
  // The number of entries of a list, each of at least `least_bytes`: never more than the bytes that are left can hold.
  size_t count(size_t least_bytes);
  void expect_end() const;
  // Throws the CommError of this message: "malformed <what>: <why>".
  [[noreturn]] void fail(const std::string& why) const;

 private:
  uint64_t get(size_t bytes);
  std::string_view bytes_;
  std::string what_;
};

std::string bytes_of_words(const std::vector<uint64_t>& words);
// Throws CommError unless the bytes are exactly `count` words.
std::vector<uint64_t> words_of_bytes(std::string_view bytes, size_t count, const std::string& what);

}  // namespace bertft
