// The control connections of a rank: small messages between all ranks, descriptors of shared memory inside a node,
// good-byes, aborts, and the news that a peer is gone (comm/peer_watch.h has the rules). One thread of its own reads
// them all and sleeps in between, so a death is seen whatever the other threads do.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "comm/native/failure.h"
#include "comm/native/fd.h"
#include "comm/native/frames.h"
#include "comm/native/topology.h"
#include "comm/peer_watch.h"
#include "comm/shared_memory.h"
#include "comm/transport.h"

namespace bertft::native {

class ControlPlane {
 public:
  // `sockets[r]`: the connection to rank r. All references outlive this object.
  ControlPlane(const Topology& topology, uint64_t job, std::vector<Fd> sockets, Failure& failure);
  // Without say_bye() before, the peers take it for a death.
  ~ControlPlane();

  // See Transport. Any thread.
  void send(int to, std::string_view bytes);
  std::optional<ControlMessage> receive(double timeout_s);

  // See Transport. Only the last announcement of a peer is kept. Any thread.
  void announce(std::string_view status);
  std::vector<ControlMessage> take_announced();

  // `tag` tells several segments of one rank apart. take_memory() waits for it; throws CommError as SharedMemory::open.
  void send_memory(int to, uint32_t tag, const SharedMemory& memory);
  SharedMemory take_memory(int from, uint32_t tag, size_t bytes);

  // Sets the failure and tells all peers. Waits at most a moment until they can know.
  void abort(const std::string& cause) noexcept;
  // Collective: returns when every peer has said it, too. Throws CommError when one is lost before.
  void say_bye();

  ChannelCounters counters() const;

 private:
  struct Frame {
    std::string bytes;
    size_t sent = 0;
    Fd descriptor;  // travels with the first byte
  };
  struct Peer {
    Fd socket;
    std::mutex mutex;  // of the outgoing side
    std::deque<Frame> outgoing;
    bool is_broken = false;  // nothing can be sent any more
    std::string inbox;       // the thread's alone, as all below
    std::deque<Fd> descriptors;
    bool is_open = true;
  };
  struct Memory {
    int from = 0;
    uint32_t tag = 0;
    Fd descriptor;
  };

  void run();
  void read(int rank);
  void take_frames(int rank);
  void take_frame(int rank, ControlKind kind, std::string_view payload);
  void connection_ended(int rank, int error);
  void tell(const std::function<void(PeerWatch&)>& event);
  void post(int rank, ControlKind kind, std::string_view payload, Fd descriptor = {});
  void flush(int rank, Peer& peer);  // with peer.mutex held
  bool is_flushed();
  void wait_for_flush(double seconds);

  const Topology& topology_;
  const uint64_t job_;
  Failure& failure_;
  std::vector<std::unique_ptr<Peer>> peers_;  // [rank]; null for this rank
  Fd poll_;
  Fd wake_;

  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<ControlMessage> received_;
  std::map<int, std::string> announced_;  // by rank
  std::deque<Memory> memories_;
  PeerWatch watch_;
  bool is_leaving_ = false;
  ChannelCounters counters_;

  std::thread thread_;
};

}  // namespace bertft::native
