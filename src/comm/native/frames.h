// Everything that travels on a socket before a payload, byte by byte as in docs/communicator-transports.md: greetings,
// headers of control frames, of sums, of their blocks and of collectives. Decoders check all that they can.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "comm/wire/block_codec.h"
#include "comm/wire/wire_map.h"

namespace bertft::native {

// What tells a job from all others. Rank 0 draws it; the launcher's bootstrap hands it out.
struct JobSecret {
  uint64_t job = 0;    // public: in every header and in the names of sockets
  std::string caller;  // 16 bytes that only the job's ranks know; sent by who connects
  std::string answer;  // 16 more, sent by who listens
};
JobSecret draw_secret();
std::string encode(const JobSecret& secret);
JobSecret decode_secret(std::string_view bytes);

// The first bytes on a connection, from the one who connects.
constexpr size_t kGreetingBytes = 48;
struct Greeting {
  int from = 0;
  int to = 0;
  int channel = 0;
};
std::string encode(const Greeting& greeting, const JobSecret& secret);
// False for anything but a greeting of this job, version and layout.
bool decode(std::string_view bytes, const JobSecret& secret, Greeting& greeting);

// The answer to it.
constexpr size_t kAnswerBytes = 32;
std::string encode_answer(const JobSecret& secret);
bool is_answer(std::string_view bytes, const JobSecret& secret);

enum class ControlKind : uint8_t { kMessage = 1, kAbort = 2, kBye = 3, kMemory = 4, kStatus = 5 };
constexpr size_t kControlHeaderBytes = 16;
constexpr uint32_t kMostControlBytes = 1u << 28;
struct ControlHeader {
  ControlKind kind = ControlKind::kMessage;
  uint32_t bytes = 0;  // of the payload behind it
};
std::string encode(const ControlHeader& header, uint64_t job);
ControlHeader decode_control(std::string_view bytes, uint64_t job);  // throws CommError

enum class Phase : uint8_t { kContribution = 1, kResult = 2 };
constexpr size_t kSumHeaderBytes = 64;
// Before the blocks of one slice of one job.
struct SumHeader {
  Phase phase = Phase::kContribution;
  WireType wire = WireType::kFp32;
  int lane = 0;
  int from = 0;
  int64_t step = 0;
  uint64_t sequence = 0;  // jobs of the lane, from 1
  ElementRange slice;
  uint32_t flags = 0;
  uint32_t blocks = 0;
};
std::string encode(const SumHeader& header, uint64_t job);
SumHeader decode_sum(std::string_view bytes, uint64_t job);  // throws CommError

constexpr size_t kBlockHeaderBytes = 16;
struct BlockHeader {
  int64_t begin = 0;
  uint32_t elements = 0;
  BlockCode code;
};
std::string encode(const BlockHeader& header);
BlockHeader decode_block_header(std::string_view bytes);  // throws CommError

constexpr size_t kCollectiveHeaderBytes = 32;
struct CollectiveHeader {
  uint64_t sequence = 0;  // collectives of the job, from 1
  uint64_t bytes = 0;     // of the payload behind it
  uint32_t kind = 0;      // 0: a gather; 1 + r: a broadcast from rank r
};
std::string encode(const CollectiveHeader& header, uint64_t job);
CollectiveHeader decode_collective(std::string_view bytes, uint64_t job);  // throws CommError

}  // namespace bertft::native
