// A slice of a 16-bit wire as one message: its length is known beforehand, blocks that do not fit are marked.
#include "comm/mpi/wire_packet.h"

#include <cstring>

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using mpi::WirePacket;

const std::vector<WireBlock> kBlocks = {
    {{0, 7}, WireType::kFp16}, {{7, 10}, WireType::kFp32}, {{10, 15}, WireType::kBf16}};

TEST_CASE("A message has a code for each block, then two or four bytes for each element") {
  CHECK(WirePacket(std::vector<WireBlock>()).bytes() == 0);
  const WirePacket packet(kBlocks);
  CHECK(packet.payload_bytes() == 7 * 2 + 3 * 4 + 5 * 2);
  CHECK(packet.bytes() == 64 + 16 + 12 + 10);  // what is fp32 begins at a multiple of four
  std::vector<std::byte> message(packet.bytes());
  std::vector<float> x(15);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 6.0f;
  for (size_t i = 0; i < kBlocks.size(); ++i) {
    const BlockCode code = packet.encode(i, x.data() + kBlocks[i].range.begin, {}, message.data());
    CHECK(code.type == kBlocks[i].wanted);
    CHECK(packet.code(message.data(), i) == code);
    CHECK_FALSE(packet.is_apart(code, i));
    std::vector<float> back(static_cast<size_t>(kBlocks[i].range.size()));
    if (code.type == WireType::kFp32) {
      std::memcpy(back.data(), packet.payload(message.data(), i), back.size() * sizeof(float));
    } else {
      decode_block(code, static_cast<const uint16_t*>(packet.payload(message.data(), i)), kBlocks[i].range.size(),
                   back.data());
    }
    CHECK(back == std::vector<float>(x.begin() + kBlocks[i].range.begin, x.begin() + kBlocks[i].range.end));
  }
}

TEST_CASE("A block that its type cannot hold is marked as travelling apart") {
  const WirePacket packet(kBlocks);
  std::vector<std::byte> message(packet.bytes());
  const std::vector<float> large(7, 70000.0f);
  const BlockCode code = packet.encode(0, large.data(), 0, message.data());
  CHECK(code.type == WireType::kFp32);
  CHECK(packet.is_apart(packet.code(message.data(), 0), 0));
  CHECK_FALSE(packet.is_apart(BlockCode{}, 1));  // wanted in fp32
}

TEST_CASE("Codes that no rank writes are refused") {
  const WirePacket packet(kBlocks);
  std::vector<std::byte> message(packet.bytes());
  for (const int type : {2, 3, 200}) {  // bf16 where fp16 was wanted; mixed is no type of a block
    message[0] = static_cast<std::byte>(type);
    CHECK_THROWS_AS(packet.code(message.data(), 0), CommError);
  }
}

}  // namespace
}  // namespace bertft
