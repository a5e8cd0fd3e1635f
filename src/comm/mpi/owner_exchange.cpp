#include "comm/mpi/owner_exchange.h"

#include <climits>
#include <cstring>
#include <utility>

#include "comm/native/topology.h"
#include "core/error.h"

namespace bertft::mpi {
namespace {

constexpr int kContributionTag = 1;  // of blocks that travel by themselves
constexpr int kResultTag = 2;

// Lays messages one behind the other; returns the bytes of all.
size_t lay_out(const std::vector<int>& bytes, std::vector<int>& at) {
  size_t total = 0;
  at.clear();
  for (const int one : bytes) {
    check(total <= INT_MAX, "a window is small enough for MPI's counts");
    at.push_back(static_cast<int>(total));
    total += static_cast<size_t>(one);
  }
  return total;
}

void grow(std::vector<std::byte>& buffer, size_t bytes) {
  if (buffer.size() < bytes) buffer.resize(bytes);
}

}  // namespace

OwnerExchange::OwnerExchange(Context context, const Comms& comms, std::vector<Member> members, int own, int owners,
                             int slots)
    : context_(std::move(context)),
      comms_(comms),
      members_(std::move(members)),
      own_(own),
      owners_(owners),
      slots_(static_cast<size_t>(slots)) {
  check(own_ >= 0 && own_ < count() && owners_ >= 1 && owners_ <= count(), "members and owners of an exchange");
}

ElementRange OwnerExchange::slice(ElementRange window, int member) const {
  if (member >= owners_) return {window.end, window.end};
  return native::slice_of(window, member, owners_);
}

std::byte* OwnerExchange::at(int64_t element) const {
  return context_.gradients.data() + context_.gradients.offset_of(element);
}

// Of a message with one value for each element of a member's slice.
size_t OwnerExchange::message_bytes(const Slot& slot, int member) const {
  if (!is_plain(slot)) return slot.packets[static_cast<size_t>(member)].bytes();
  return context_.gradients.offset_of(slice(slot.window, member).size());
}

size_t OwnerExchange::payload_bytes(const Slot& slot, int member) const {
  return is_plain(slot) ? message_bytes(slot, member) : slot.packets[static_cast<size_t>(member)].payload_bytes();
}

void OwnerExchange::send_contributions(int slot_index, const ReduceJob& job, ElementRange window) {
  Slot& slot = slots_[static_cast<size_t>(slot_index)];
  slot.job = &job;
  slot.window = window;
  slot.are_apart_asked_for = false;
  slot.packets.clear();
  for (int member = 0; member < count() && !is_plain(slot); ++member) {
    slot.packets.emplace_back(context_.gradients.map().blocks(slice(window, member), job.wire));
  }
  slot.result_bytes.clear();
  for (int member = 0; member < count(); ++member) {
    slot.result_bytes.push_back(static_cast<int>(message_bytes(slot, member)));
  }
  slot.send_bytes = slot.result_bytes;
  slot.send_bytes[static_cast<size_t>(own_)] = 0;  // stays where it is
  slot.receive_bytes.assign(members_.size(), slot.result_bytes[static_cast<size_t>(own_)]);
  slot.receive_bytes[static_cast<size_t>(own_)] = 0;
  lay_out(slot.result_bytes, slot.result_at);
  slot.send_at = slot.result_at;
  grow(slot.incoming, lay_out(slot.receive_bytes, slot.receive_at));
  const std::byte* outgoing = at(window.begin);
  if (!is_plain(slot)) {
    encode_contributions(slot);
    outgoing = slot.outgoing.data();
  }
  context_.wait.start("MPI_Ialltoallv", [&] {
    return MPI_Ialltoallv(outgoing, slot.send_bytes.data(), slot.send_at.data(), MPI_BYTE, slot.incoming.data(),
                          slot.receive_bytes.data(), slot.receive_at.data(), MPI_BYTE, comms_.contributions,
                          &slot.collective.emplace_back());
  });
  for (int member = 0; member < count(); ++member) {
    if (member != own_) count_sent(slot, member, 1);
  }
}

void OwnerExchange::encode_contributions(Slot& slot) {
  grow(slot.outgoing, static_cast<size_t>(slot.send_at.back() + slot.send_bytes.back()));
  for (int member = 0; member < count(); ++member) {
    if (member == own_) continue;
    const WirePacket& packet = slot.packets[static_cast<size_t>(member)];
    void* message = slot.outgoing.data() + slot.send_at[static_cast<size_t>(member)];
    for (size_t i = 0; i < packet.blocks().size(); ++i) {
      const WireBlock& block = packet.blocks()[i];
      const auto* elements = reinterpret_cast<const float*>(at(block.range.begin));
      const BlockCode code = packet.encode(i, elements, slot.job->scale_exponent, message);
      if (packet.is_apart(code, i)) send_apart(slot, member, block, kContributionTag);
    }
  }
}

bool OwnerExchange::have_contributions_come(int slot_index) {
  Slot& slot = slots_[static_cast<size_t>(slot_index)];
  if (!slot.are_apart_asked_for) {
    if (!context_.wait.is_done(slot.collective)) return false;
    if (!is_plain(slot)) ask_for_contributions(slot);
    slot.are_apart_asked_for = true;
  }
  // Those that this rank sent, too: their elements may be overwritten by results after this.
  return context_.wait.is_done(slot.apart);
}

// What members could not say in 16 bits, as their messages tell.
void OwnerExchange::ask_for_contributions(Slot& slot) {
  const WirePacket& packet = slot.packets[static_cast<size_t>(own_)];
  slot.apart_values.clear();
  for (int member = 0; member < count(); ++member) {
    const void* message = slot.incoming.data() + slot.receive_at[static_cast<size_t>(member)];
    for (size_t i = 0; i < packet.blocks().size() && member != own_; ++i) {
      if (!packet.is_apart(packet.code(message, i), i)) continue;
      std::vector<float>& values = slot.apart_values[{member, i}];
      values.resize(static_cast<size_t>(packet.blocks()[i].range.size()));
      receive_apart(slot, member, packet.blocks()[i], kContributionTag, values.data());
    }
  }
}

void OwnerExchange::add_contributions(int slot_index) {
  Slot& slot = slots_[static_cast<size_t>(slot_index)];
  count_received(slot, own_, count() - 1);
  if (is_plain(slot)) {
    add_plain(slot);
  } else {
    add_encoded(slot);
  }
}

void OwnerExchange::add_plain(Slot& slot) {
  const ElementRange own = own_slice(slot.window);
  std::vector<Contribution> sources;
  for (size_t member = 0; member < members_.size(); ++member) {
    const bool is_own = static_cast<int>(member) == own_;
    const std::byte* elements = is_own ? at(own.begin) : slot.incoming.data() + slot.receive_at[member];
    sources.push_back({elements, {}, members_[member].group});
  }
  add_up(slot, sources, own);
}

void OwnerExchange::add_encoded(Slot& slot) {
  const WirePacket& packet = slot.packets[static_cast<size_t>(own_)];
  const auto message = [&](int member) { return slot.incoming.data() + slot.receive_at[static_cast<size_t>(member)]; };
  for (size_t i = 0; i < packet.blocks().size(); ++i) {
    const ElementRange range = packet.blocks()[i].range;
    std::vector<Contribution> sources;
    for (int member = 0; member < count(); ++member) {
      Contribution source{at(range.begin), {}, members_[static_cast<size_t>(member)].group};
      if (member != own_) {
        const auto by_itself = slot.apart_values.find({member, i});
        source.code = packet.code(message(member), i);
        source.elements = by_itself != slot.apart_values.end() ? static_cast<const void*>(by_itself->second.data())
                                                               : packet.payload(message(member), i);
      }
      sources.push_back(source);
    }
    add_up(slot, sources, range);
  }
}

void OwnerExchange::add_up(const Slot& slot, const std::vector<Contribution>& sources, ElementRange range) {
  sum_in_order(sources, range.size(), context_.gradients.element_bytes(), at(range.begin),
               [&](const WrongPiece& piece) {
                 context_.on_wrong(*slot.job, members_[piece.source].rank, range.begin + piece.first, piece.count,
                                   piece.elements);
               });
}

void OwnerExchange::send_results(int slot_index) {
  Slot& slot = slots_[static_cast<size_t>(slot_index)];
  slot.are_apart_asked_for = false;
  std::byte* results = at(slot.window.begin);
  if (!is_plain(slot)) {
    encode_results(slot);
    results = slot.results.data();
  }
  context_.wait.start("MPI_Iallgatherv", [&] {
    return MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, results, slot.result_bytes.data(), slot.result_at.data(),
                           MPI_BYTE, comms_.results, &slot.collective.emplace_back());
  });
  count_sent(slot, own_, count() - 1);
}

// This rank keeps the decoded value of what it sends, so all ranks have the same bits.
void OwnerExchange::encode_results(Slot& slot) {
  grow(slot.results, static_cast<size_t>(slot.result_at.back() + slot.result_bytes.back()));
  const WirePacket& packet = slot.packets[static_cast<size_t>(own_)];
  void* message = slot.results.data() + slot.result_at[static_cast<size_t>(own_)];
  for (size_t i = 0; i < packet.blocks().size(); ++i) {
    const WireBlock& block = packet.blocks()[i];
    auto* elements = reinterpret_cast<float*>(at(block.range.begin));
    const BlockCode code = packet.encode(i, elements, slot.job->scale_exponent, message);
    if (code.type != WireType::kFp32) {
      decode_block(code, static_cast<const uint16_t*>(packet.payload(message, i)), block.range.size(), elements);
    }
    for (int member = 0; member < count() && packet.is_apart(code, i); ++member) {
      if (member != own_) send_apart(slot, member, block, kResultTag);
    }
  }
}

bool OwnerExchange::have_results_come(int slot_index) {
  Slot& slot = slots_[static_cast<size_t>(slot_index)];
  if (!slot.are_apart_asked_for) {
    if (!context_.wait.is_done(slot.collective)) return false;
    if (!is_plain(slot)) ask_for_results(slot);
    slot.are_apart_asked_for = true;
  }
  return context_.wait.is_done(slot.apart);
}

void OwnerExchange::ask_for_results(Slot& slot) {
  for (int member = 0; member < count(); ++member) {
    const WirePacket& packet = slot.packets[static_cast<size_t>(member)];
    const void* message = slot.results.data() + slot.result_at[static_cast<size_t>(member)];
    for (size_t i = 0; i < packet.blocks().size() && member != own_; ++i) {
      if (!packet.is_apart(packet.code(message, i), i)) continue;
      const WireBlock& block = packet.blocks()[i];
      receive_apart(slot, member, block, kResultTag, at(block.range.begin));
    }
  }
}

void OwnerExchange::take_results(int slot_index) {
  Slot& slot = slots_[static_cast<size_t>(slot_index)];
  for (int member = 0; member < count(); ++member) {
    if (member != own_) count_received(slot, member, 1);
  }
  if (!is_plain(slot)) decode_results(slot);
}

void OwnerExchange::decode_results(Slot& slot) {
  for (int member = 0; member < count(); ++member) {
    const WirePacket& packet = slot.packets[static_cast<size_t>(member)];
    const void* message = slot.results.data() + slot.result_at[static_cast<size_t>(member)];
    for (size_t i = 0; i < packet.blocks().size() && member != own_; ++i) {
      const WireBlock& block = packet.blocks()[i];
      const BlockCode code = packet.code(message, i);
      if (packet.is_apart(code, i)) continue;  // has come by itself
      if (code.type == WireType::kFp32) {
        std::memcpy(at(block.range.begin), packet.payload(message, i), wire_bytes(code.type, block.range.size()));
      } else {
        decode_block(code, static_cast<const uint16_t*>(packet.payload(message, i)), block.range.size(),
                     reinterpret_cast<float*>(at(block.range.begin)));
      }
    }
  }
}

void OwnerExchange::send_apart(Slot& slot, int member, const WireBlock& block, int tag) {
  const int bytes = static_cast<int>(wire_bytes(WireType::kFp32, block.range.size()));
  context_.wait.start("MPI_Isend", [&] {
    return MPI_Isend(at(block.range.begin), bytes, MPI_BYTE, member, tag, comms_.contributions,
                     &slot.apart.emplace_back());
  });
  context_.meter.message_sent();
  context_.meter.fp32_block_sent();
  context_.meter.sent(0, static_cast<size_t>(bytes));
}

void OwnerExchange::receive_apart(Slot& slot, int member, const WireBlock& block, int tag, void* into) {
  const int bytes = static_cast<int>(wire_bytes(WireType::kFp32, block.range.size()));
  context_.wait.start("MPI_Irecv", [&] {
    return MPI_Irecv(into, bytes, MPI_BYTE, member, tag, comms_.contributions, &slot.apart.emplace_back());
  });
  context_.meter.message_received();
  context_.meter.received(0, static_cast<size_t>(bytes));
}

void OwnerExchange::count_sent(const Slot& slot, int message_of, int messages) {
  const size_t bytes = message_bytes(slot, message_of);
  for (int i = 0; i < messages && bytes > 0; ++i) {
    context_.meter.message_sent();
    context_.meter.sent(bytes - payload_bytes(slot, message_of), payload_bytes(slot, message_of));
  }
}

void OwnerExchange::count_received(const Slot& slot, int message_of, int messages) {
  const size_t bytes = message_bytes(slot, message_of);
  for (int i = 0; i < messages && bytes > 0; ++i) {
    context_.meter.message_received();
    context_.meter.received(bytes - payload_bytes(slot, message_of), payload_bytes(slot, message_of));
  }
}

}  // namespace bertft::mpi
