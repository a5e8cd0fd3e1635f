// Brings the ranks of a job together: exchanges addresses through the bootstrap, opens all connections that the
// topology needs, and keeps everybody else out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "comm/bootstrap.h"
#include "comm/native/fd.h"
#include "comm/native/frames.h"
#include "comm/native/topology.h"

namespace bertft::native {

struct MeshOptions {
  int lanes = 1;  // 0: control connections alone, for a transport that moves data by other means
  bool is_hierarchical = true;
  std::string interface;  // see choose_interfaces(); only looked at when there are several nodes
  // 0: free ports; else rank r of a node listens on port_base + r (lanes + 2) + channel; without lanes on port_base +
  // r.
  int port_base = 0;
  double connect_timeout_s = 30.0;  // until all connections stand
  double connect_warn_s = 0.0;      // until it is said whom they wait for; 0: never
};

struct Mesh {
  JobSecret secret;
  Topology topology;
  std::vector<Fd> control;  // [rank]; none for this rank. Unix domain inside a node, TCP to others
  std::map<Link, Fd> data;  // the links of tcp_links() with channel > 0
  int64_t closed_strangers = 0;
  std::string interfaces;  // what was chosen, for the start-up table; "" on one node
};

// Collective. `node` names this rank's machine: ranks with the same name share memory. When one cannot listen
// or has no interface, every rank throws alike: SharedError, with the code of CommError. Throws CommError on those that
// wait in vain when a peer cannot be reached, and on all that are left when one ends meanwhile.
Mesh connect_mesh(Bootstrap& bootstrap, const std::string& node, const MeshOptions& options);

}  // namespace bertft::native
