#include "checkpoint/crc32.h"

#include <array>

namespace bertft {
namespace {

constexpr size_t kSlices = 8;
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

// tables[k][b]: the remainder of byte b followed by k zero bytes.
constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? 0xEDB88320u : 0u);
    tables[0][byte] = remainder;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

uint32_t crc32(const std::byte* data, size_t bytes) {
  const auto byte_at = [&](size_t i) { return static_cast<uint32_t>(data[i]); };
  uint32_t crc = 0xffffffffu;
  for (; bytes >= kSlices; bytes -= kSlices, data += kSlices) {
    const uint32_t low = crc ^ (byte_at(0) | byte_at(1) << 8 | byte_at(2) << 16 | byte_at(3) << 24);
    crc = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^ kTables[5][low >> 16 & 0xff] ^ kTables[4][low >> 24] ^
          kTables[3][byte_at(4)] ^ kTables[2][byte_at(5)] ^ kTables[1][byte_at(6)] ^ kTables[0][byte_at(7)];
  }
  for (; bytes > 0; --bytes, ++data) crc = crc >> 8 ^ kTables[0][(crc ^ byte_at(0)) & 0xff];
  return ~crc;
}

}  // namespace bertft
