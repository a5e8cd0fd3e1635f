// The transport that needs nothing but Linux: shared memory between the ranks of a node, TCP between nodes. Sums are
// made in canonical order (the ranks of each node, then the nodes), so neither lanes, units, hierarchy nor chance
// change a bit at fp32 wire. docs/communicator-transports.md has topology, formats, counts and what happens when things
// fail.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "comm/bootstrap.h"
#include "comm/transport.h"

namespace bertft {

struct NativeOptions {
  std::string node;             // ranks with the same text share memory; "" = this machine (host name and boot)
  int lanes = 1;                // independent streams, 1..64; several pay off where one TCP stream does not fill a link
  bool is_hierarchical = true;  // sum inside a node first; false: every rank talks to every rank of other nodes
  std::string interface;        // names, addresses or networks (10.1.0.0/16), comma-separated; "" = any that fits
  int port_base = 0;  // 0 = free ports; else local rank r listens on port_base + r (lanes + 2) and the next ones
  double connect_timeout_s = 30.0;
  double connect_warn_s = 0.0;  // until it is said whom a rank waits for while it connects; 0: never
  double wait_limit_s =
      0.0;  // a wait that takes longer ends with an error; 0 = none (whoever watches for stalls aborts)
  // Called on a lane's thread for each value that is no number, before it is summed. Must not call the transport.
  std::function<void(const NonFinite&)> on_non_finite;
};

// Collective. Throws as native::connect_mesh(). The transport is connected, but open() is still to be called.
std::unique_ptr<Transport> connect_native_transport(Bootstrap& bootstrap, const NativeOptions& options);
// The same, opened.
std::unique_ptr<Transport> make_native_transport(Bootstrap& bootstrap, const NativeOptions& options);

// The name of this machine that ranks agree on exactly when they share memory: host name, boot and network namespace.
std::string node_name();

}  // namespace bertft
