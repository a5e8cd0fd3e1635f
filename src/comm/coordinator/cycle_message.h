// The messages that ranks send each other during a cycle: a fixed header and the payload of one stage. Horovod leaves
// the messages to MPI's collectives; here they are our own, so that they can be counted and simulated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bertft {

// The collectives of a cycle in their order. Which of them happen: CoordinatorCycle.
enum class CycleStage : uint8_t {
  kAnd = 0,             // allreduce of the vector of bits
  kOr = 1,              // allreduce of the bits to be erased
  kLengths = 2,         // gather: bytes of each rank's request list
  kRequests = 3,        // gatherv: the request lists
  kResponseLength = 4,  // broadcast: bytes of the response list
  kResponses = 5,       // broadcast: the response list
};
constexpr int kCycleStages = 6;

// 32 bytes, least significant byte first:
//   0 u8 0xC5 · 1 u8 version 1 · 2 u8 stage · 3 u8 phase · 4 u32 flags · 8 u64 job · 16 i64 steps done · 24 i64 cycle
constexpr size_t kCycleHeaderBytes = 32;

struct CycleHeader {
  CycleStage stage = CycleStage::kAnd;
  uint8_t phase = 0;       // of the stage
  uint32_t flags = 0;      // StatusFlag, OR of all that the sender knows of
  uint64_t job = 0;        // the same on all ranks of a job, and on no others
  int64_t steps_done = 0;  // steps whose units were all agreed before this cycle: equal on all ranks
  int64_t cycle = 0;
};

std::string encode(const CycleHeader& header, std::string_view payload);

// Throws CommError on malformed bytes, another version, unknown stages or flags. The payload is a view into `bytes`.
CycleHeader decode_cycle_header(std::string_view bytes, int from, std::string_view* payload);

}  // namespace bertft
