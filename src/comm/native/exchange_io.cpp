// The bytes of a slice exchange: pieces out of and into non-blocking sockets, each header checked against what this
// rank computes itself.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "comm/native/exchange_peer.h"
#include "comm/native/sockets.h"
#include "core/error.h"

namespace bertft::native {

void SliceExchange::load_header(Peer& peer, Phase phase) {
  const bool is_result = phase == Phase::kResult;
  SumHeader header;
  header.phase = phase;
  header.wire = job_->what.wire;
  header.lane = context_.lane;
  header.from = context_.topology.rank;
  header.step = job_->what.step;
  header.sequence = job_->sequence;
  header.slice =
      is_result ? slice_of(job_->whole, static_cast<int>(own_), static_cast<int>(participants_.size())) : peer.slice;
  header.flags = is_result ? closed_flags_ : job_->flags;
  header.blocks = static_cast<uint32_t>(is_result ? own_blocks_.size() : peer.blocks.size());
  const std::string bytes = encode(header, context_.job);
  std::memcpy(peer.head.data(), bytes.data(), bytes.size());
  peer.head_bytes = bytes.size();
  peer.payload_bytes = 0;
  context_.meter.message_sent();
}

void SliceExchange::set_block(Peer& peer, const WireBlock& block, BlockCode code, const void* payload) {
  const std::string bytes = encode(BlockHeader{block.range.begin, static_cast<uint32_t>(block.range.size()), code});
  std::memcpy(peer.head.data(), bytes.data(), bytes.size());
  peer.head_bytes = bytes.size();
  peer.payload = static_cast<const char*>(payload);
  peer.payload_bytes = payload_bytes(code.type, block.range.size());
  if (code.type != block.wanted) context_.meter.fp32_block_sent();
}

void SliceExchange::load_contribution(Peer& peer, const WireBlock& block) {
  const std::byte* mine = at(job_->data, block.range.begin);
  BlockCode code;
  if (block.wanted != WireType::kFp32) {
    peer.encoded.resize(static_cast<size_t>(kWireBlockElements));
    code = encode_block(reinterpret_cast<const float*>(mine), block.range.size(), block.wanted,
                        job_->what.scale_exponent, peer.encoded.data());
  }
  const void* payload = peer.encoded.data();
  if (code.type == WireType::kFp32) payload = mine;
  set_block(peer, block, code, payload);
}

void SliceExchange::load_result(Peer& peer, size_t index) {
  const WireBlock& block = own_blocks_[index];
  const void* payload = at(job_->outputs.front(), block.range.begin);
  if (result_codes_[index].type != WireType::kFp32) {
    payload = result_wire_.data() + (block.range.begin - own_blocks_.front().range.begin);
  }
  set_block(peer, block, result_codes_[index], payload);
}

// The next header or block that can be sent, if there is one now.
bool SliceExchange::load_piece(Peer& peer) {
  if (peer.is_all_sent) return false;
  const bool is_result = peer.send_phase == Phase::kResult;
  const size_t blocks = is_result ? own_blocks_.size() : peer.blocks.size();
  if (!peer.is_header_sent) {
    // The flag word of our slice is closed once every contribution's flags are here.
    if (is_result && headers_here_ < peers_.size()) return false;
    load_header(peer, peer.send_phase);
    peer.is_header_sent = true;
  } else if (peer.next_sent == blocks) {
    peer.is_all_sent = is_result;
    peer.send_phase = Phase::kResult;
    peer.is_header_sent = false;
    peer.next_sent = 0;
    return load_piece(peer);
  } else if (is_result) {
    if (peer.next_sent == result_codes_.size()) return false;
    load_result(peer, peer.next_sent++);
  } else {
    load_contribution(peer, peer.blocks[peer.next_sent]);
    peer.next_sent += 1;
  }
  context_.meter.sent(peer.head_bytes, peer.payload_bytes);
  peer.sent = 0;
  return true;
}

void SliceExchange::send(Peer& peer) {
  for (;;) {
    if (!peer.has_piece) peer.has_piece = load_piece(peer);
    if (!peer.has_piece) return;
    std::array<iovec, 2> parts = {};
    size_t count = 0;
    if (peer.sent < peer.head_bytes) parts[count++] = {peer.head.data() + peer.sent, peer.head_bytes - peer.sent};
    const size_t of_payload = peer.sent < peer.head_bytes ? 0 : peer.sent - peer.head_bytes;
    if (of_payload < peer.payload_bytes) {
      parts[count++] = {const_cast<char*>(peer.payload) + of_payload, peer.payload_bytes - of_payload};
    }
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(peer.socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      waiting_.connection_lost(peer.rank, errno, "a lane");
    }
    peer.sent += static_cast<size_t>(sent);
    if (peer.sent == peer.head_bytes + peer.payload_bytes) peer.has_piece = false;
  }
}

bool SliceExchange::may_read(const Peer& peer) const { return peer.stage != Receiving::kDone && !peer.has_block; }

void SliceExchange::receive(Peer& peer) {
  while (may_read(peer)) {
    const bool is_payload = peer.stage == Receiving::kPayload;
    const size_t wanted = is_payload                              ? peer.target_bytes
                          : peer.stage == Receiving::kBlockHeader ? kBlockHeaderBytes
                                                                  : kSumHeaderBytes;
    if (peer.received < wanted) {
      char* into = is_payload ? reinterpret_cast<char*>(peer.target) : peer.incoming.data();
      const IoResult io = read_some(peer.socket, into + peer.received, wanted - peer.received);
      if (io.is_ended) waiting_.connection_lost(peer.rank, io.error, "a lane");
      if (io.count == 0) return;
      peer.received += io.count;
      if (peer.received < wanted) continue;
    }
    peer.received = 0;
    if (is_payload) {
      take_payload(peer);
    } else if (peer.stage == Receiving::kBlockHeader) {
      take_block_header(peer);
    } else {
      take_header(peer);
    }
  }
}

void SliceExchange::take_header(Peer& peer) {
  const SumHeader header = decode_sum({peer.incoming.data(), kSumHeaderBytes}, context_.job);
  const bool is_result = peer.receive_phase == Phase::kResult;
  const ElementRange slice =
      is_result ? peer.slice : slice_of(job_->whole, static_cast<int>(own_), static_cast<int>(participants_.size()));
  const size_t blocks = is_result ? peer.blocks.size() : own_blocks_.size();
  const bool is_right = header.phase == peer.receive_phase && header.wire == job_->what.wire &&
                        header.lane == context_.lane && header.from == peer.rank && header.step == job_->what.step &&
                        header.sequence == job_->sequence && header.slice == slice && header.blocks == blocks;
  if (!is_right) {
    throw CommError(
        fmt::format("lane {}: {} sends elements {}..{} as {} in {} blocks (step {}, job {}, phase {}), but {}..{} as "
                    "{} in {} blocks "
                    "(step {}, job {}, phase {}) are due. The ranks disagree about their units or rows: do all read "
                    "the same data with "
                    "the same program?",
                    context_.lane, context_.topology.name_of(peer.rank), header.slice.begin, header.slice.end,
                    wire_type_name(header.wire), header.blocks, header.step, header.sequence,
                    static_cast<int>(header.phase), slice.begin, slice.end, wire_type_name(job_->what.wire), blocks,
                    job_->what.step, job_->sequence, static_cast<int>(peer.receive_phase)));
  }
  context_.meter.message_received();
  context_.meter.received(kSumHeaderBytes, 0);
  if (is_result) {
    all_flags_ |= header.flags;
  } else {
    closed_flags_ |= header.flags;
    headers_here_ += 1;
  }
  peer.next_received = 0;
  if (blocks > 0) {
    peer.stage = Receiving::kBlockHeader;
  } else if (is_result) {
    peer.stage = Receiving::kDone;
  } else {
    peer.receive_phase = Phase::kResult;
  }
}

void SliceExchange::take_block_header(Peer& peer) {
  const BlockHeader header = decode_block_header({peer.incoming.data(), kBlockHeaderBytes});
  const bool is_result = peer.receive_phase == Phase::kResult;
  const WireBlock& block = (is_result ? peer.blocks : own_blocks_)[peer.next_received];
  if (header.begin != block.range.begin || header.elements != block.range.size() ||
      (header.code.type != block.wanted && header.code.type != WireType::kFp32)) {
    throw CommError(fmt::format("lane {}: {} sends a block of {} elements at {} as {}, but {} at {} as {} are due",
                                context_.lane, context_.topology.name_of(peer.rank), header.elements, header.begin,
                                wire_type_name(header.code.type), block.range.size(), block.range.begin,
                                wire_type_name(block.wanted)));
  }
  peer.code = header.code;
  peer.target_bytes = payload_bytes(header.code.type, block.range.size());
  const bool is_direct = is_result && header.code.type == WireType::kFp32;
  peer.target = is_direct ? at(job_->data, block.range.begin) : peer.buffer.data();
  peer.stage = Receiving::kPayload;
}

void SliceExchange::take_payload(Peer& peer) {
  context_.meter.received(kBlockHeaderBytes, peer.target_bytes);
  if (peer.receive_phase == Phase::kContribution) {
    peer.has_block = true;  // add_block() lets reading go on
    peer.next_received += 1;
    if (peer.next_received == own_blocks_.size()) peer.receive_phase = Phase::kResult;
    return;
  }
  const WireBlock& block = peer.blocks[peer.next_received++];
  if (peer.code.type != WireType::kFp32) {
    decode_block(peer.code, reinterpret_cast<const uint16_t*>(peer.buffer.data()), block.range.size(),
                 reinterpret_cast<float*>(at(job_->data, block.range.begin)));
  }
  peer.stage = peer.next_received == peer.blocks.size() ? Receiving::kDone : Receiving::kBlockHeader;
}

}  // namespace bertft::native
