#include "comm/decentral/static_schedule.h"

#include <algorithm>

#include "comm/agreed.h"
#include "core/error.h"
#include "core/hash.h"

namespace bertft {
namespace {

constexpr uint32_t kDigestMask = 0xfff;
constexpr int kDigestShift = 8, kInverseShift = 20;

}  // namespace

uint32_t encode_flag_word(uint32_t flags, uint32_t digest) {
  check((flags & ~kAllStatusFlags) == 0 && digest <= kDigestMask, "a flag word has room for flags and 12 bits");
  return flags | digest << kDigestShift | (~digest & kDigestMask) << kInverseShift;
}

FlagWord decode_flag_word(uint32_t word) {
  const uint32_t digest = word >> kDigestShift & kDigestMask;
  const uint32_t inverse = word >> kInverseShift & kDigestMask;
  FlagWord decoded;
  decoded.flags = word & kAllStatusFlags;
  decoded.is_mismatch = (digest & inverse) != 0;
  decoded.is_complete = (digest | inverse) == kDigestMask;
  return decoded;
}

StaticSchedule::StaticSchedule(int units, uint64_t layout_hash) : units_(units), layout_hash_(layout_hash) {}

void StaticSchedule::reset(int units, uint64_t layout_hash) {
  units_ = units;
  layout_hash_ = layout_hash;
  is_frozen_ = false;
  equal_steps_ = 0;
  order_.clear();
}

const std::vector<int>& StaticSchedule::order() const {
  check(is_frozen_, "only a frozen schedule has an order");
  return order_;
}

uint32_t StaticSchedule::digest(int64_t step) const {
  uint64_t hash = order_hash_ ^ layout_hash_;
  hash = hash64(&step, sizeof step, hash);
  return static_cast<uint32_t>(hash >> 32) & kDigestMask;
}

void StaticSchedule::negotiated_step_ended(const std::vector<int>& order, uint32_t flags) {
  check(!is_frozen_, "a negotiated step is not a frozen one");
  check(static_cast<int>(order.size()) == units_, "an ended step has agreed on every unit once");
  if ((flags & kFlagSurprise) != 0) {
    equal_steps_ = 0;
    return;
  }
  equal_steps_ = equal_steps_ > 0 && order == order_ ? equal_steps_ + 1 : 1;
  order_ = order;
  if (!is_permitted_ || equal_steps_ < kStepsBeforeFreezing) return;
  is_frozen_ = true;
  order_hash_ = hash64(order_.data(), order_.size() * sizeof(int), layout_hash_);
}

void StaticSchedule::frozen_step_ended(uint32_t flags) {
  check(is_frozen_, "a frozen step is not a negotiated one");
  if ((flags & kFlagSurprise) == 0) return;
  is_frozen_ = false;
  equal_steps_ = 0;
}

void StaticSchedule::append_state(std::string& out) const {
  out.push_back(static_cast<char>(is_permitted_ << 1 | int{is_frozen_}));
  out.push_back(static_cast<char>(std::min(equal_steps_, kStepsBeforeFreezing)));
  for (const int unit : order_) out.append(reinterpret_cast<const char*>(&unit), sizeof unit);
}

}  // namespace bertft
