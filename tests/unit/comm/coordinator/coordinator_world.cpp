#include "tests/unit/comm/coordinator/coordinator_world.h"

#include <algorithm>

#include "core/error.h"

namespace bertft {

std::vector<TensorSpec> plain_units(int count, int64_t elements) {
  std::vector<TensorSpec> units;
  for (int i = 0; i < count; ++i) {
    units.push_back({"unit." + std::to_string(i), {.shape = {elements}}});
  }
  return units;
}

CoordinatorWorld::CoordinatorWorld(const CoordinatorOptions& options, const std::vector<TensorSpec>& units,
                                   Change change, Timeline* timeline)
    : rounds_(static_cast<size_t>(options.size)),
      received_(static_cast<size_t>(options.size), 0),
      chains_(static_cast<size_t>(options.size), {0, std::vector<int>(kCycleStages, 0)}),
      longest_(kCycleStages, 0) {
  for (int rank = 0; rank < options.size; ++rank) {
    CoordinatorOptions own = options;
    own.rank = rank;
    std::vector<TensorSpec> own_units = units;
    if (change != nullptr) {
      change(rank, own_units);
    }
    ranks_.push_back(std::make_unique<CoordinatorController>(own, std::move(own_units), timeline));
  }
}

void CoordinatorWorld::step_begin(int64_t step) {
  for (auto& rank : ranks_) {
    if (rank->step_done()) {
      rank->step_end();
    }
    rank->step_begin(step);
  }
}

void CoordinatorWorld::mark(int unit) {
  for (auto& rank : ranks_) {
    rank->mark_ready(unit);
  }
}

void CoordinatorWorld::mark(int unit, const std::vector<int>& ranks) {
  for (const int rank : ranks) {
    this->rank(rank).mark_ready(unit);
  }
}

int& CoordinatorWorld::chain(int rank, CycleStage stage, int64_t cycle) {
  auto& [known_cycle, lengths] = chains_[static_cast<size_t>(rank)];
  if (cycle > known_cycle) {
    known_cycle = cycle;
    std::fill(lengths.begin(), lengths.end(), 0);
  }
  return lengths[static_cast<size_t>(stage)];
}

void CoordinatorWorld::post(int from) {
  for (auto& message : rank(from).take_messages()) {
    std::string_view payload;
    const CycleHeader header = decode_cycle_header(message.bytes, from, &payload);
    const int length = chain(from, header.stage, header.cycle) + 1;
    int& longest = longest_[static_cast<size_t>(header.stage)];
    longest = std::max(longest, length);
    channels_[{from, message.to}].push_back({std::move(message.bytes), header.stage, header.cycle, length});
  }
}

void CoordinatorWorld::tick(int rank, double now_s) {
  this->rank(rank).tick(now_s);
  post(rank);
}

void CoordinatorWorld::deliver(int from, int to, double now_s) {
  const auto channel = channels_.find({from, to});
  check(channel != channels_.end(), "a message that is on its way");
  const Message message = std::move(channel->second.front());
  channel->second.pop_front();
  if (channel->second.empty()) {
    channels_.erase(channel);
  }
  ++received_[static_cast<size_t>(to)];
  // A message of the next cycle waits there and is no part of a chain until then; lockstep, the one user, has none.
  int& length = chain(to, message.stage, message.cycle);
  length = std::max(length, message.chain);
  rank(to).receive(from, message.bytes, now_s);
  post(to);
}

std::vector<std::pair<int, int>> CoordinatorWorld::open_channels() const {
  std::vector<std::pair<int, int>> open;
  for (const auto& [ranks, messages] : channels_) {
    open.push_back(ranks);
  }
  return open;
}

void CoordinatorWorld::cycle(double now_s) {
  for (int rank = 0; rank < size(); ++rank) {
    tick(rank, now_s);
  }
  for (auto open = open_channels(); !open.empty(); open = open_channels()) {
    for (const auto& [from, to] : open) {
      deliver(from, to, now_s);
    }
  }
  for (const auto& rank : ranks_) {
    check(!rank->is_running(), "a cycle hangs in lockstep");
  }
  collect();
}

void CoordinatorWorld::collect() {
  for (int rank = 0; rank < size(); ++rank) {
    for (AgreedRound& round : this->rank(rank).take_agreed()) {
      rounds_[static_cast<size_t>(rank)].push_back(std::move(round));
    }
  }
}

const std::vector<AgreedRound>& CoordinatorWorld::rounds(int rank) {
  collect();
  return rounds_[static_cast<size_t>(rank)];
}

CycleCounts CoordinatorWorld::sent(CycleStage stage) const {
  CycleCounts total;
  for (const auto& rank : ranks_) {
    total += rank->cycle().collectives().sent(stage);
  }
  return total;
}

CycleCounts CoordinatorWorld::sent() const {
  CycleCounts total;
  for (const auto& rank : ranks_) {
    total += rank->cycle().collectives().sent();
  }
  return total;
}

int64_t CoordinatorWorld::messages_at(int rank) const {
  const auto place = static_cast<size_t>(rank);
  return ranks_[place]->cycle().collectives().sent().messages + received_[place];
}

std::vector<std::string> CoordinatorWorld::cached(int rank) {
  std::vector<std::string> names;
  for (const int tensor : this->rank(rank).cycle().cache().tensors()) {
    names.push_back(this->rank(rank).unit_name(tensor));
  }
  return names;
}

}  // namespace bertft
