// The collectives between nodes: the leaders (local rank 0) exchange whole texts with each other, or pass a buffer on
// along a chain.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "comm/native/meter.h"
#include "comm/native/socket_wait.h"
#include "comm/native/topology.h"

namespace bertft::native {

class LeaderLinks {
 public:
  struct Context {
    const Topology& topology;
    uint64_t job;
    Failure& failure;
    WaitRecord& record;
    Meter& meter;
    double wait_limit_s;
  };
  // `sockets[node]`: the connection to that node's leader.
  LeaderLinks(const Context& context, std::map<int, int> sockets);

  // The texts of all leaders, by node. One message each way per pair.
  std::vector<std::string> all_gather(const std::string& mine);

  // A buffer from the leader of one node to the next. One message: begin() on both sides, then pieces.
  void begin_send(int node, size_t bytes);
  void send(int node, const void* data, size_t bytes);
  void begin_receive(int node, size_t bytes);
  void receive(int node, void* data, size_t bytes);

  // Both sides of a collective count it before anything is sent. `kind`: see CollectiveHeader.
  void next_collective(uint32_t kind) {
    sequence_ += 1;
    kind_ = kind;
  }

 private:
  struct Transfer;
  void run(std::vector<Transfer>& transfers);
  bool move(Transfer& transfer);
  void check_header(int node, const std::string& header, const size_t* bytes) const;
  int leader_of(int node) const { return context_.topology.members[static_cast<size_t>(node)].front(); }

  Context context_;
  SocketWait waiting_;
  std::map<int, int> sockets_;
  uint64_t sequence_ = 0;
  uint32_t kind_ = 0;
};

}  // namespace bertft::native
