#include "comm/mpi/wire_packet.h"

#include <cstring>
#include <utility>

#include "core/error.h"

namespace bertft::mpi {
namespace {

constexpr size_t kAlignment = 64;  // of the first block; the others begin where their kind of element may

struct PackedCode {
  uint8_t type = 0;
  uint8_t zero = 0;
  int16_t scale_exponent = 0;
};

}  // namespace

WirePacket::WirePacket(std::vector<WireBlock> blocks) : blocks_(std::move(blocks)) {
  if (blocks_.empty()) return;
  bytes_ = (blocks_.size() * sizeof(PackedCode) + kAlignment - 1) / kAlignment * kAlignment;
  for (const WireBlock& block : blocks_) {
    bytes_ = (bytes_ + sizeof(float) - 1) / sizeof(float) * sizeof(float);
    at_.push_back(bytes_);
    bytes_ += wire_bytes(block.wanted, block.range.size());
    payload_bytes_ += wire_bytes(block.wanted, block.range.size());
  }
}

BlockCode WirePacket::encode(size_t i, const float* x, std::optional<int> scale_exponent, void* message) const {
  const WireBlock& block = blocks_[i];
  BlockCode code;
  if (block.wanted == WireType::kFp32) {
    std::memcpy(payload(message, i), x, wire_bytes(WireType::kFp32, block.range.size()));
  } else {
    code =
        encode_block(x, block.range.size(), block.wanted, scale_exponent, static_cast<uint16_t*>(payload(message, i)));
  }
  const PackedCode packed{static_cast<uint8_t>(code.type), 0, static_cast<int16_t>(code.scale_exponent)};
  std::memcpy(static_cast<std::byte*>(message) + i * sizeof packed, &packed, sizeof packed);
  return code;
}

BlockCode WirePacket::code(const void* message, size_t i) const {
  PackedCode packed;
  std::memcpy(&packed, static_cast<const std::byte*>(message) + i * sizeof packed, sizeof packed);
  const BlockCode code{static_cast<WireType>(packed.type), packed.scale_exponent};
  if (!is_possible(code) || (code.type != blocks_[i].wanted && code.type != WireType::kFp32)) {
    throw CommError("a block of gradients came with a code that no rank writes: do all ranks run the same program?");
  }
  return code;
}

}  // namespace bertft::mpi
