// How the ranks of a job find each other before a transport is open: whatever started them (MPI, or threads of one
// process in tests) carries a few small texts between them.
#pragma once

#include <string>
#include <vector>

#include "comm/stall_settings.h"

namespace bertft {

// All calls are collective: every rank makes them in the same order. Throws CommError when a peer is gone.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // The byte strings of all ranks, in rank order.
  virtual std::vector<std::string> all_gather(const std::string& mine) = 0;
  virtual void barrier() = 0;
  // From now on nobody does anything long between two calls: one that takes longer than the limits is warned of, and
  // then ends this process. Not collective.
  virtual void expect_short_waits(const StallSettings& /*limits*/) {}
  // The end of a job that went well; nothing may be called after it.
  virtual void finish() {}
};

}  // namespace bertft
