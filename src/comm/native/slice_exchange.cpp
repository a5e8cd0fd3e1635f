#include "comm/native/slice_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "comm/native/exchange_peer.h"
#include "comm/wire/wire_kernels.h"
#include "core/error.h"

namespace bertft::native {

SliceExchange::SliceExchange(const Context& context, std::vector<Participant> participants)
    : context_(context),
      waiting_(context.topology, context.failure, context.wait_limit_s, context.record),
      participants_(std::move(participants)) {
  for (size_t i = 0; i < participants_.size(); ++i) {
    const Participant& one = participants_[i];
    if (one.rank == context_.topology.rank) own_ = i;
    if (one.socket < 0) continue;
    auto peer = std::make_unique<Peer>();
    peer->participant = i;
    peer->rank = one.rank;
    peer->socket = one.socket;
    peer->buffer.resize(static_cast<size_t>(kWireBlockElements) * context_.element_bytes);
    peers_.push_back(std::move(peer));
  }
  total_.resize(static_cast<size_t>(kWireBlockElements) * context_.element_bytes);
  group_sum_.resize(total_.size());
}

SliceExchange::~SliceExchange() = default;

std::byte* SliceExchange::at(std::byte* base, int64_t element) const {
  return base + static_cast<size_t>(element) * context_.element_bytes;
}

size_t SliceExchange::payload_bytes(WireType type, int64_t elements) const {
  return type == WireType::kFp32 ? static_cast<size_t>(elements) * context_.element_bytes : wire_bytes(type, elements);
}

void SliceExchange::start(const ExchangeJob& job) {
  const int count = static_cast<int>(participants_.size());
  job_ = &job;
  const ElementRange own_slice = slice_of(job.whole, static_cast<int>(own_), count);
  own_blocks_ = context_.map.blocks(own_slice, job.what.wire);
  result_codes_.clear();
  if (job.what.wire != WireType::kFp32) result_wire_.resize(static_cast<size_t>(own_slice.size()));
  headers_here_ = 0;
  closed_flags_ = job.flags;
  all_flags_ = 0;
  for (auto& peer : peers_) {
    peer->slice = slice_of(job.whole, static_cast<int>(peer->participant), count);
    peer->blocks = context_.map.blocks(peer->slice, job.what.wire);
    peer->send_phase = peer->receive_phase = Phase::kContribution;
    peer->is_header_sent = peer->is_all_sent = peer->has_piece = peer->has_block = false;
    peer->next_sent = peer->next_received = 0;
    peer->stage = Receiving::kHeader;
    peer->received = 0;
  }
}

bool SliceExchange::is_done() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const std::unique_ptr<Peer>& peer) {
    return peer->is_all_sent && peer->stage == Receiving::kDone;
  });
}

uint32_t SliceExchange::run(const ExchangeJob& job) {
  const wire::IeeeArithmetic ieee;
  start(job);
  for (;;) {
    for (auto& peer : peers_) {
      receive(*peer);
    }
    bool has_added = false;
    while (add_block()) {
      has_added = true;
      for (auto& peer : peers_) {
        receive(*peer);
        send(*peer);
      }
    }
    for (auto& peer : peers_) {
      send(*peer);
    }
    if (is_done()) break;
    if (!has_added) wait();
  }
  context_.failure.throw_if_set();
  return all_flags_ | closed_flags_;
}

void SliceExchange::wait() {
  std::vector<pollfd> polls;
  for (const auto& peer : peers_) {
    short events = 0;
    if (peer->has_piece) events |= POLLOUT;
    if (may_read(*peer)) events |= POLLIN;
    polls.push_back({events == 0 ? -1 : peer->socket, events, 0});
  }
  waiting_.wait(polls, [&] {
    TransportWait wait{context_.lane, "data", job_->what.step, job_->what.unit, {}};
    for (const auto& peer : peers_) {
      if (!peer->is_all_sent || peer->stage != Receiving::kDone) wait.ranks.push_back(peer->rank);
    }
    return wait;
  });
}

// The next block of our slice, if all contributions to it are here: adds them, prepares what goes out.
bool SliceExchange::add_block() {
  const size_t index = result_codes_.size();
  if (index == own_blocks_.size()) return false;
  for (const auto& peer : peers_) {
    if (!peer->has_block) return false;
  }
  const WireBlock& block = own_blocks_[index];
  const int64_t count = block.range.size();
  BlockCode code;
  const bool is_in_place = block.wanted == WireType::kFp32 && job_->outputs.size() == 1;
  void* out = is_in_place ? at(job_->outputs.front(), block.range.begin) : total_.data();
  sum_in_order(block, out);
  if (block.wanted != WireType::kFp32) {
    auto* total = reinterpret_cast<float*>(total_.data());
    uint16_t* encoded = result_wire_.data() + (block.range.begin - own_blocks_.front().range.begin);
    code = encode_block(total, count, block.wanted, job_->what.scale_exponent, encoded);
    if (code.type != WireType::kFp32) decode_block(code, encoded, count, total);
  }
  for (std::byte* output : job_->outputs) {
    if (!is_in_place) {
      std::memcpy(at(output, block.range.begin), total_.data(), static_cast<size_t>(count) * context_.element_bytes);
    }
  }
  for (auto& peer : peers_) {
    peer->has_block = false;
    peer->stage = peer->next_received < own_blocks_.size() ? Receiving::kBlockHeader : Receiving::kHeader;
  }
  result_codes_.push_back(code);
  return true;
}

const void* SliceExchange::contribution(size_t participant, const WireBlock& block) {
  const std::byte* here = job_->in_memory[participant];
  if (here != nullptr) return here + static_cast<size_t>(block.range.begin) * context_.element_bytes;
  const auto found = std::find_if(peers_.begin(), peers_.end(),
                                  [&](const std::unique_ptr<Peer>& peer) { return peer->participant == participant; });
  Peer& peer = **found;
  if (peer.code.type == WireType::kFp32) return peer.buffer.data();
  peer.decoded.resize(static_cast<size_t>(kWireBlockElements));
  decode_block(peer.code, reinterpret_cast<const uint16_t*>(peer.buffer.data()), block.range.size(),
               peer.decoded.data());
  return peer.decoded.data();
}

namespace {

void sum_any(const std::vector<const void*>& sources, int64_t count, size_t element_bytes, void* out) {
  const int number = static_cast<int>(sources.size());
  if (element_bytes == sizeof(float)) {
    std::vector<const float*> typed(sources.size());
    std::transform(sources.begin(), sources.end(), typed.begin(),
                   [](const void* x) { return static_cast<const float*>(x); });
    wire::kernels().sum(typed.data(), number, count, static_cast<float*>(out));
  } else {
    std::vector<const double*> typed(sources.size());
    std::transform(sources.begin(), sources.end(), typed.begin(),
                   [](const void* x) { return static_cast<const double*>(x); });
    wire::kernels().sum_doubles(typed.data(), number, count, static_cast<double*>(out));
  }
}

}  // namespace

// ((a0 + a1) + ...) + ((b0 + b1) + ...) + ...: groups a, b, ... one after the other.
void SliceExchange::sum_in_order(const WireBlock& block, void* out) {
  const int64_t count = block.range.size();
  std::vector<const void*> sums;  // the total of the groups so far, and the next one
  for (size_t i = 0; i < participants_.size();) {
    std::vector<const void*> group;
    size_t end = i;
    for (; end < participants_.size() && participants_[end].group == participants_[i].group; ++end) {
      group.push_back(contribution(end, block));
    }
    i = end;
    const void* sum = group.front();
    if (group.size() > 1) {
      void* place = sums.empty() ? total_.data() : group_sum_.data();
      sum_any(group, count, context_.element_bytes, place);
      sum = place;
    }
    if (sums.empty()) {
      sums.push_back(sum);
      continue;
    }
    sums.push_back(sum);
    // Into total_ as long as groups follow: `out` may be a contribution that is still to be added.
    void* place = i == participants_.size() ? out : total_.data();
    sum_any(sums, count, context_.element_bytes, place);
    sums = {place};
  }
  check(sums.front() == out, "a sum between nodes has at least two groups");
}

}  // namespace bertft::native
