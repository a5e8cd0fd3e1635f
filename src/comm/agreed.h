// What a controller hands to the transport: units whose sums may start, because every rank has them ready. Both
// controllers (coordinator and decentral) end here, so lanes, wire and order know nothing of how it was agreed.
#pragma once

#include <cstdint>
#include <vector>

namespace bertft {

// Conditions any rank may raise and all ranks learn of together; bits of AgreedRound::flags and of `raise`.
// A flag acts at the end of its step on all ranks, never earlier.
enum StatusFlag : uint32_t {
  kFlagAbort = 1u << 0,      // this rank cannot go on
  kFlagNonFinite = 1u << 1,  // a gradient of this rank has a NaN or Inf
  kFlagStop = 1u << 2,       // stop requested: end the run after this step
  kFlagSave = 1u << 3,       // save requested after this step
  kFlagSurprise = 1u << 4,   // this rank cannot keep to the frozen schedule: negotiate from the next step on
};
constexpr int kStatusFlagCount = 5;
constexpr uint32_t kAllStatusFlags = (1u << kStatusFlagCount) - 1;

// Groups in the order in which all ranks start them; the same on all ranks, like everything in here.
struct AgreedRound {
  int64_t step = 0;
  int64_t round = 0;                     // counts from 0 in each step
  std::vector<std::vector<int>> groups;  // coordinator: a fused response each; decentral: a unit each
  uint32_t flags = 0;                    // StatusFlag, OR over the ranks' contributions to this round

  friend bool operator==(const AgreedRound&, const AgreedRound&) = default;
};

}  // namespace bertft
