// The transport over the MPI library's own collectives, so on whatever fabric it supports. Sums are owner-computed in
// the order of the native transport, so at fp32 wire both give the same bits; docs/communicator-transports.md has what
// is guaranteed and what it costs. Small messages, and the news of a dead peer, go over the connections of comm/native,
// since MPI has neither. No type of MPI appears here.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "comm/bootstrap.h"
#include "comm/transport.h"

namespace bertft {

struct MpiOptions {
  std::string node;  // see NativeOptions, as all that has no comment
  int lanes = 1;     // each with communicators of its own
  bool is_hierarchical = true;
  std::string interface;
  int port_base = 0;
  double connect_timeout_s = 30.0;
  double connect_warn_s = 0.0;
  double wait_limit_s = 0.0;
  std::function<void(const NonFinite&)> on_non_finite;
  // Called with the cause, and not expected to return, when what lies under MPI ends this process because a peer is
  // gone. Without it the process ends by SIGABRT then.
  std::function<void(const std::string& cause)> end_process = {};
};

// Throws CommError when MPI is not started or allows no calls from several threads, ConfigError in a build without MPI.
void require_mpi_can_work();

// Collective. REQUIRES that `bootstrap` is MPI's. Throws as require_mpi_can_work() and native::connect_mesh(). The
// transport is connected, but open() is still to be called.
std::unique_ptr<Transport> connect_mpi_transport(Bootstrap& bootstrap, const MpiOptions& options);
// The same, opened.
std::unique_ptr<Transport> make_mpi_transport(Bootstrap& bootstrap, const MpiOptions& options);

}  // namespace bertft
