// A slice in a 16-bit wire as one message of fixed length: a code for each block, then the blocks. Its length depends
// on the slice alone, so a receiver knows it before anything has come; a block that its type cannot hold is marked as
// fp32 here and travels by itself. Knows nothing of MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/wire/block_codec.h"
#include "comm/wire/wire_map.h"

namespace bertft::mpi {

class WirePacket {
 public:
  WirePacket() = default;
  // The message of these blocks, of a map's.
  explicit WirePacket(std::vector<WireBlock> blocks);

  size_t bytes() const { return bytes_; }
  size_t payload_bytes() const { return payload_bytes_; }  // of the blocks alone
  const std::vector<WireBlock>& blocks() const { return blocks_; }
  // Where block i lies in a message that begins at `message`.
  void* payload(void* message, size_t i) const { return static_cast<std::byte*>(message) + at_[i]; }
  const void* payload(const void* message, size_t i) const { return static_cast<const std::byte*>(message) + at_[i]; }

  // Writes block i from its elements, x[0] being the first; returns what became of it. When that is fp32 and the block
  // was wanted in 16 bits, the message has its code alone, and x itself has to be sent.
  BlockCode encode(size_t i, const float* x, std::optional<int> scale_exponent, void* message) const;
  // The code of block i. Throws CommError when it is none that a peer can have made.
  BlockCode code(const void* message, size_t i) const;
  // True when block i is not in the message but travels by itself.
  bool is_apart(BlockCode code, size_t i) const {
    return code.type == WireType::kFp32 && blocks_[i].wanted != WireType::kFp32;
  }

 private:
  std::vector<WireBlock> blocks_;
  std::vector<size_t> at_;  // [block] from the message's begin
  size_t bytes_ = 0, payload_bytes_ = 0;
};

}  // namespace bertft::mpi
