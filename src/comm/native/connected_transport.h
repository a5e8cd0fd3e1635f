// What transports over the connections of a mesh have in common, however their sums travel: who is where, the
// controllers' small messages, words that the ranks of a node share, and what is known of failures.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/native/control_plane.h"
#include "comm/native/failure.h"
#include "comm/native/mesh.h"
#include "comm/native/meter.h"
#include "comm/native/node_memory.h"
#include "comm/native/waiting.h"
#include "comm/transport.h"

namespace bertft::native {

class ConnectedTransport : public Transport {
 public:
  int rank() const final { return mesh_.topology.rank; }
  int size() const final { return mesh_.topology.size; }
  int local_rank() const final { return mesh_.topology.local_rank; }
  int local_size() const final { return mesh_.topology.local_size(); }
  int node() const final { return mesh_.topology.node; }
  int nodes() const final { return mesh_.topology.nodes(); }

  SharedMemory share_words(size_t bytes) final { return native::share_words(topology(), *control_, bytes); }

  void send(int to, std::string_view bytes) final { control_->send(to, bytes); }
  std::optional<ControlMessage> receive(double timeout_s) final { return control_->receive(timeout_s); }
  void announce(std::string_view status) final { control_->announce(status); }
  std::vector<ControlMessage> take_announced() final { return control_->take_announced(); }
  void abort(const std::string& cause) noexcept final;
  std::string failure() const final { return failure_.cause(); }

 protected:
  explicit ConnectedTransport(Mesh mesh);

  const Topology& topology() const { return mesh_.topology; }
  uint64_t job() const { return mesh_.secret.job; }
  const std::string& interfaces() const { return mesh_.interfaces; }
  const std::map<Link, Fd>& data_sockets() const { return mesh_.data; }
  Failure& failures() { return failure_; }
  ControlPlane& control() { return *control_; }
  // Ends the thread of the control plane, which may still wake what a derived class is about to destroy.
  void stop_control() { control_.reset(); }

  // What a collective sends and waits for: a derived class keeps them up to date.
  Meter& collective_meter() { return collective_meter_; }
  WaitRecord& collective_record() { return collective_record_; }
  // Of all but the lanes.
  TransportCounters common_counters() const;
  // Of the lanes' records, then of the collective.
  std::vector<TransportWait> waits_of(const std::vector<const WaitRecord*>& lanes) const;

 private:
  Mesh mesh_;
  Failure failure_;
  std::unique_ptr<ControlPlane> control_;
  WaitRecord collective_record_;
  Meter collective_meter_;
};

}  // namespace bertft::native
