// Waiting for data sockets: every wait watches for a failure of the job, too, and a broken data connection takes its
// cause from there.
#pragma once

#include <poll.h>

#include <functional>
#include <vector>

#include "comm/native/failure.h"
#include "comm/native/topology.h"
#include "comm/native/waiting.h"

namespace bertft::native {

class SocketWait {
 public:
  SocketWait(const Topology& topology, Failure& failure, double wait_limit_s, WaitRecord& record)
      : topology_(topology), failure_(failure), wait_limit_s_(wait_limit_s), record_(record) {}

  // Returns when one of `polls` is ready. `describe()` is asked what is waited for when that takes long. Throws
  // CommError on a failure, or after the limit.
  void wait(std::vector<pollfd>& polls, const std::function<TransportWait()>& describe);

  // A data connection to `rank` ended or broke: gives the control plane a second to say why, then throws.
  [[noreturn]] void connection_lost(int rank, int error, const char* channel);

 private:
  const Topology& topology_;
  Failure& failure_;
  const double wait_limit_s_;
  WaitRecord& record_;
};

}  // namespace bertft::native
