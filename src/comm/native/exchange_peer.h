// The state of a slice exchange with one peer: what is being sent, what is being received.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "comm/native/frames.h"
#include "comm/native/slice_exchange.h"

namespace bertft::native {

enum class Receiving { kHeader, kBlockHeader, kPayload, kDone };

struct SliceExchange::Peer {
  size_t participant = 0;
  int rank = 0;
  int socket = -1;

  // Of the job at hand.
  ElementRange slice;             // which the peer owns
  std::vector<WireBlock> blocks;  // of that slice: our contributions to it, later its results

  // Sending: first all contributions, then the results of our slice.
  Phase send_phase = Phase::kContribution;
  bool is_header_sent = false;  // of that phase
  size_t next_sent = 0;         // block of that phase
  bool is_all_sent = false;
  std::array<char, kSumHeaderBytes> head = {};
  size_t head_bytes = 0;
  const char* payload = nullptr;
  size_t payload_bytes = 0;
  size_t sent = 0;  // of head and payload together
  bool has_piece = false;
  std::vector<uint16_t> encoded;

  // Receiving: first contributions to our slice, then the results of the peer's.
  Receiving stage = Receiving::kHeader;
  Phase receive_phase = Phase::kContribution;
  size_t next_received = 0;  // block of that phase
  std::array<char, kSumHeaderBytes> incoming = {};
  size_t received = 0;  // of the header or payload at hand
  BlockCode code;
  std::byte* target = nullptr;
  size_t target_bytes = 0;
  bool has_block = false;  // a contribution is complete and has not been added
  std::vector<std::byte> buffer;
  std::vector<float> decoded;
};

}  // namespace bertft::native
