// One lane's sums between nodes: every participant owns a slice, gets all others' contributions to it, adds them in
// canonical order and sends the result back. One thread, non-blocking sockets, block after block, so a slice is added
// while it still arrives and goes out while it is still added.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/native/failure.h"
#include "comm/native/frames.h"
#include "comm/native/meter.h"
#include "comm/native/socket_wait.h"
#include "comm/native/topology.h"
#include "comm/transport.h"
#include "comm/wire/wire_map.h"

namespace bertft::native {

// Who takes part, in canonical order. Contributions of one group are added first, then the groups' sums.
struct Participant {
  int rank = 0;
  int group = 0;    // ascending
  int socket = -1;  // -1: in this node, its contribution lies in memory
};

struct ExchangeJob {
  ReduceJob what;
  uint64_t sequence = 0;                    // of the lane
  ElementRange whole;                       // what the participants cut into slices
  uint32_t flags = 0;                       // of this rank and of the ranks whose contributions lie in memory
  std::byte* data = nullptr;                // where this rank's contributions lie and the others' results go
  std::vector<const std::byte*> in_memory;  // [participant]: buffers of those in this node, `data` for this rank
  std::vector<std::byte*> outputs;          // buffers that get the result of this rank's slice; the first is `data`
};

class SliceExchange {
 public:
  struct Context {
    const Topology& topology;
    const WireMap& map;
    uint64_t job;
    int lane;
    size_t element_bytes;
    Failure& failure;
    WaitRecord& record;
    Meter& meter;
    double wait_limit_s;
  };
  SliceExchange(const Context& context, std::vector<Participant> participants);
  ~SliceExchange();

  // Blocks until this rank's slice is everywhere and all slices are here. Returns the OR of the flags of all.
  uint32_t run(const ExchangeJob& job);

 private:
  struct Peer;
  void start(const ExchangeJob& job);
  bool is_done() const;
  void wait();

  void send(Peer& peer);
  bool load_piece(Peer& peer);
  void load_header(Peer& peer, Phase phase);
  void load_contribution(Peer& peer, const WireBlock& block);
  void load_result(Peer& peer, size_t index);
  void set_block(Peer& peer, const WireBlock& block, BlockCode code, const void* payload);

  void receive(Peer& peer);
  void take_header(Peer& peer);
  void take_block_header(Peer& peer);
  void take_payload(Peer& peer);
  bool may_read(const Peer& peer) const;

  bool add_block();
  void sum_in_order(const WireBlock& block, void* out);
  const void* contribution(size_t participant, const WireBlock& block);
  std::byte* at(std::byte* base, int64_t element) const;
  size_t payload_bytes(WireType type, int64_t elements) const;

  Context context_;
  SocketWait waiting_;
  std::vector<Participant> participants_;
  size_t own_ = 0;  // place of this rank among them
  std::vector<std::unique_ptr<Peer>> peers_;

  const ExchangeJob* job_ = nullptr;
  std::vector<WireBlock> own_blocks_;
  std::vector<BlockCode> result_codes_;  // of the blocks that are ready
  std::vector<uint16_t> result_wire_;    // what is sent of 16-bit ones, at the same places as in the slice
  std::vector<std::byte> total_, group_sum_;
  size_t headers_here_ = 0;  // contributions whose flags are known
  uint32_t closed_flags_ = 0;
  uint32_t all_flags_ = 0;
};

}  // namespace bertft::native
