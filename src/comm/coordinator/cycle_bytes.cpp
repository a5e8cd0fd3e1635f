#include "comm/coordinator/cycle_bytes.h"

#include <fmt/format.h>

#include "core/error.h"

namespace bertft {

void CycleBytesWriter::put(uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    bytes_.push_back(static_cast<char>(static_cast<uint8_t>(value >> (8 * i))));
  }
}

void CycleBytesWriter::text(std::string_view value) {
  u32(static_cast<uint32_t>(value.size()));
  raw(value);
}

void CycleBytesReader::fail(const std::string& why) const {
  throw CommError(fmt::format("malformed {}: {}; all ranks must run the same build", what_, why));
}

uint64_t CycleBytesReader::get(size_t bytes) {
  if (bytes_.size() < bytes) {
    fail(fmt::format("it ends {} bytes too early", bytes - bytes_.size()));
  }
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) {
    value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes_[i])) << (8 * i);
  }
  bytes_.remove_prefix(bytes);
  return value;
}

bool CycleBytesReader::flag() {
  const uint8_t value = u8();
  if (value > 1) {
    fail(fmt::format("{} stands where 0 or 1 is expected", value));
  }
  return value == 1;
}

std::string_view CycleBytesReader::text() {
  const size_t length = u32();
  if (length > bytes_.size()) {
    fail(fmt::format("a text of {} bytes where {} are left", length, bytes_.size()));
  }
  const std::string_view value = bytes_.substr(0, length);
  bytes_.remove_prefix(length);
  return value;
}

std::string_view CycleBytesReader::rest() {
  const std::string_view value = bytes_;
  bytes_ = {};
  return value;
}

size_t CycleBytesReader::count(size_t least_bytes) {
  const size_t entries = u32();
  if (entries > bytes_.size() / least_bytes) {
    fail(fmt::format("{} entries in {} bytes", entries, bytes_.size()));
  }
  return entries;
}

void CycleBytesReader::expect_end() const {
  if (!bytes_.empty()) {
    fail(fmt::format("{} bytes too many", bytes_.size()));
  }
}

std::string bytes_of_words(const std::vector<uint64_t>& words) {
  CycleBytesWriter writer;
  writer.reserve(8 * words.size());
  for (const uint64_t word : words) {
    writer.u64(word);
  }
  return writer.take();
}

std::vector<uint64_t> words_of_bytes(std::string_view bytes, size_t count, const std::string& what) {
  CycleBytesReader reader(bytes, what);
  if (bytes.size() != 8 * count) {
    reader.fail(fmt::format("{} bytes instead of {} words", bytes.size(), count));
  }
  std::vector<uint64_t> words(count);
  for (uint64_t& word : words) {
    word = reader.u64();
  }
  return words;
}

}  // namespace bertft
