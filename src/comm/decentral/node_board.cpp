#include "comm/decentral/node_board.h"

#include <fmt/format.h>

#include <atomic>
#include <cstring>

#include "core/error.h"

namespace bertft {
namespace {

constexpr uint64_t kMagic = 0x31'64'72'61'6f'62'66'62;  // "bfboard1"
constexpr size_t kLineWords = 8;                        // 64 bytes
constexpr size_t kHeadWords = 3 * kLineWords;           // numbers, leader's bell, members' bell

// Words of a slot of a rank, and of the results.
constexpr size_t kStep = 0;  // step + 1, so that zeroed memory is in no step
constexpr size_t kRankFlags = 1;
constexpr size_t kRankBits = 2;
constexpr size_t kCount = 1;
constexpr size_t kResultFlags = 2;
constexpr size_t kResultUnits = 3;

// An agreed unit: unit in bits 0-31, its round in 32-55, the round's flags in 56-63.
constexpr int kRoundShift = 32, kFlagsShift = 56;

size_t padded(size_t words) { return (words + kLineWords - 1) / kLineWords * kLineWords; }
size_t rank_words(int units) { return padded(kRankBits + UnitSet::word_count(units)); }
size_t result_words(int units) { return padded(kResultUnits + static_cast<size_t>(units)); }

uint64_t load(const uint64_t* word) {
  return std::atomic_ref<uint64_t>(*const_cast<uint64_t*>(word)).load(std::memory_order_acquire);
}

void store(uint64_t* word, uint64_t value) { std::atomic_ref<uint64_t>(*word).store(value, std::memory_order_release); }

static_assert(std::atomic_ref<uint64_t>::is_always_lock_free, "words are shared between processes");

}  // namespace

size_t NodeBoard::bytes(int local_size, int units) {
  return 8 * (kHeadWords + static_cast<size_t>(local_size) * rank_words(units) + 2 * result_words(units));
}

void NodeBoard::format(void* memory, int local_size, int units) {
  check(local_size > 0 && units > 0, "a node has ranks and a layout has units");
  std::memset(memory, 0, bytes(local_size, units));
  auto* words = static_cast<uint64_t*>(memory);
  words[1] = static_cast<uint64_t>(local_size);
  words[2] = static_cast<uint64_t>(units);
  store(&words[0], kMagic);
}

NodeBoard::NodeBoard(void* memory, int local_size, int units, const DecentralRules& rules)
    : words_(static_cast<uint64_t*>(memory)), local_size_(local_size), units_(units), rules_(rules) {
  check(reinterpret_cast<uintptr_t>(memory) % alignof(uint64_t) == 0, "shared words are aligned");
  if (load(&words_[0]) != kMagic || words_[1] != static_cast<uint64_t>(local_size) ||
      words_[2] != static_cast<uint64_t>(units)) {
    throw CommError(
        fmt::format("the shared words of this node are not those of {} ranks and {} units: its ranks run "
                    "different programs or layouts",
                    local_size, units));
  }
}

uint64_t* NodeBoard::rank_slot(int local_rank) const {
  check(local_rank >= 0 && local_rank < local_size_, "a local rank is one of the node");
  return words_ + kHeadWords + static_cast<size_t>(local_rank) * rank_words(units_);
}

uint64_t* NodeBoard::result_slot(int64_t step) const {
  const size_t parity = rules_.two_result_slots ? static_cast<size_t>(step % 2) : 0;
  return words_ + kHeadWords + static_cast<size_t>(local_size_) * rank_words(units_) + parity * result_words(units_);
}

void NodeBoard::enter_step(int local_rank, int64_t step, uint32_t flags) {
  uint64_t* slot = rank_slot(local_rank);
  for (size_t i = 0; i < UnitSet::word_count(units_); ++i) store(slot + kRankBits + i, 0);
  store(slot + kRankFlags, flags);
  store(slot + kStep, static_cast<uint64_t>(step) + 1);
}

void NodeBoard::set_flags(int local_rank, uint32_t flags) { store(rank_slot(local_rank) + kRankFlags, flags); }

void NodeBoard::set_ready(int local_rank, int unit) {
  check(unit >= 0 && unit < units_, "a unit is one of the layout");
  uint64_t* word = rank_slot(local_rank) + kRankBits + unit / 64;
  store(word, load(word) | uint64_t{1} << (unit % 64));
}

Readiness NodeBoard::read(int64_t step) const {
  Readiness node{UnitSet::all(units_), 0};
  for (int rank = 0; rank < local_size_; ++rank) {
    const uint64_t* slot = rank_slot(rank);
    const bool is_there = load(slot + kStep) == static_cast<uint64_t>(step) + 1;
    if (rules_.shared_words_carry_the_step && !is_there) {
      node.ready.clear();
      continue;
    }
    std::vector<uint64_t> bits(UnitSet::word_count(units_));
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = load(slot + kRankBits + i);
    node.ready &= UnitSet::from_words(units_, std::move(bits));
    node.flags |= static_cast<uint32_t>(load(slot + kRankFlags));
  }
  return node;
}

std::vector<int> NodeBoard::ranks_without(int unit, int64_t step) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < local_size_; ++rank) {
    const uint64_t* slot = rank_slot(rank);
    const bool is_there = load(slot + kStep) == static_cast<uint64_t>(step) + 1;
    const bool has = (load(slot + kRankBits + unit / 64) >> (unit % 64) & 1) != 0;
    if (!is_there || !has) ranks.push_back(rank);
  }
  return ranks;
}

void NodeBoard::open_results(int64_t step) {
  uint64_t* slot = result_slot(step);
  store(slot + kCount, 0);
  store(slot + kResultFlags, 0);
  store(slot + kStep, static_cast<uint64_t>(step) + 1);
}

void NodeBoard::publish(const AgreedRound& round) {
  uint64_t* slot = result_slot(round.step);
  check(load(slot + kStep) == static_cast<uint64_t>(round.step) + 1, "results belong to the step that was opened");
  check(round.round < int64_t{1} << (kFlagsShift - kRoundShift), "a step has fewer rounds");
  store(slot + kResultFlags, load(slot + kResultFlags) | round.flags);
  uint64_t count = load(slot + kCount);
  for (const std::vector<int>& group : round.groups) {
    check(group.size() == 1 && count < static_cast<uint64_t>(units_), "a unit is agreed once, alone");
    store(slot + kResultUnits + count, static_cast<uint64_t>(group[0]) |
                                           static_cast<uint64_t>(round.round) << kRoundShift |
                                           uint64_t{round.flags} << kFlagsShift);
    ++count;
  }
  store(slot + kCount, count);
}

std::vector<AgreedRound> NodeBoard::results(int64_t step, int seen) const {
  const uint64_t* slot = result_slot(step);
  std::vector<AgreedRound> rounds;
  if (load(slot + kStep) != static_cast<uint64_t>(step) + 1) return rounds;
  const uint64_t count = load(slot + kCount);
  for (auto i = static_cast<uint64_t>(seen); i < count; ++i) {
    const uint64_t entry = load(slot + kResultUnits + i);
    const auto number = static_cast<int64_t>(entry >> kRoundShift & 0xffffff);
    if (rounds.empty() || rounds.back().round != number) {
      rounds.push_back({step, number, {}, static_cast<uint32_t>(entry >> kFlagsShift)});
    }
    rounds.back().groups.push_back({static_cast<int>(entry & 0xffffffff)});
  }
  return rounds;
}

bool NodeBoard::is_complete(int64_t step) const {
  const uint64_t* slot = result_slot(step);
  return load(slot + kStep) == static_cast<uint64_t>(step) + 1 && load(slot + kCount) == static_cast<uint64_t>(units_);
}

uint32_t NodeBoard::result_flags(int64_t step) const {
  check(is_complete(step), "the flags of a step are known when all its units are agreed");
  return static_cast<uint32_t>(load(result_slot(step) + kResultFlags));
}

uint32_t* NodeBoard::leader_bell() const { return reinterpret_cast<uint32_t*>(words_ + kLineWords); }

uint32_t* NodeBoard::member_bell() const { return reinterpret_cast<uint32_t*>(words_ + 2 * kLineWords); }

}  // namespace bertft
