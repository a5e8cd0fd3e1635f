#include "comm/coordinator/cycle_message.h"

#include <fmt/format.h>

#include "comm/agreed.h"
#include "comm/coordinator/cycle_bytes.h"

namespace bertft {

namespace {

constexpr uint8_t kKind = 0xC5;  // tells the messages of this protocol from any others
constexpr uint8_t kVersion = 1;

}  // namespace

std::string encode(const CycleHeader& header, std::string_view payload) {
  CycleBytesWriter writer;
  writer.reserve(kCycleHeaderBytes + payload.size());
  writer.u8(kKind);
  writer.u8(kVersion);
  writer.u8(static_cast<uint8_t>(header.stage));
  writer.u8(header.phase);
  writer.u32(header.flags);
  writer.u64(header.job);
  writer.i64(header.steps_done);
  writer.i64(header.cycle);
  writer.raw(payload);
  return writer.take();
}

CycleHeader decode_cycle_header(std::string_view bytes, int from, std::string_view* payload) {
  CycleBytesReader reader(bytes, fmt::format("message of rank {}", from));
  const uint8_t kind = reader.u8();
  const uint8_t version = reader.u8();
  if (kind != kKind || version != kVersion) {
    reader.fail(fmt::format("kind {} version {} instead of {} and {}", kind, version, kKind, kVersion));
  }
  CycleHeader header;
  const uint8_t stage = reader.u8();
  if (stage >= kCycleStages) {
    reader.fail(fmt::format("unknown stage {}", stage));
  }
  header.stage = CycleStage{stage};
  header.phase = reader.u8();
  header.flags = reader.u32();
  if ((header.flags & ~kAllStatusFlags) != 0) {
    reader.fail(fmt::format("unknown flags {:#x}", header.flags));
  }
  header.job = reader.u64();
  header.steps_done = reader.i64();
  header.cycle = reader.i64();
  *payload = reader.rest();
  return header;
}

}  // namespace bertft
