// How the ranks of a job agree and add up their gradients. The trainer knows this interface and nothing below it: no
// type of a transport appears here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/non_finite.h"
#include "core/layout.h"

namespace bertft {

// What ranks tell each other beside gradients; all values are combined over the ranks.
struct Agreement {
  uint32_t flags = 0;  // OR
  double min = 0.0;    // MIN
  double max = 0.0;    // MAX
};

// Of this rank, from the beginning. What crosses shared memory is no message.
struct Counters {
  int64_t messages = 0;       // sent: sums, collectives and the controller's
  int64_t bytes = 0;          // of them, headers included
  int64_t sum_messages = 0;   // of the messages: those that carry gradients
  int64_t payload_bytes = 0;  // of the bytes: gradients themselves
  int64_t rounds = 0;         // of negotiation in which units were agreed
  int64_t copies = 0;         // bytes copied into and out of a fusion buffer
  double exposed_s = 0.0;     // time the compute thread waited
  double total_s = 0.0;       // time during which anything was on its way
};

// One per process. All calls come from the compute thread, in the same order on every rank; each throws CommError when
// a peer is lost or disagrees.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;
  virtual std::string description() const = 0;  // for the start-up table

  // Where the sums of a finished step stand, in the form of the gradient buffer: often that buffer itself. To be read.
  virtual const void* sums() const = 0;
  // Before step_begin(), for that step: the rows of the lookup table `entry` of the layout that gradients may use on
  // any rank, ascending, each once; the same on all ranks. All other rows are zero on every rank. Rows may then travel
  // alone, and the whole table must be written when its first unit is marked ready. Without it any row may be used.
  virtual void set_used_rows(int /*entry*/, const std::vector<int32_t>& /*rows*/) {}
  // One optimizer step: units of the gradient buffer are announced as backward finishes them (each exactly once, in any
  // order) and finish() returns when all of them hold the sum over the ranks.
  virtual void step_begin(int64_t step) = 0;
  virtual void mark_ready(int unit) = 0;
  virtual void finish() = 0;

  // What was found in the ranks' contributions since the last call, as far as this rank looked.
  virtual std::vector<NonFinite> take_non_finite() { return {}; }

  virtual void broadcast(void* data, size_t bytes, int root) = 0;
  // The byte strings of all ranks, in rank order.
  virtual std::vector<std::string> all_gather(const std::string& mine) = 0;
  virtual void barrier() = 0;
  virtual Agreement agree(const Agreement& mine) = 0;
  // Tells the peers why this rank goes down. Never throws; does not return control to a collective.
  virtual void abort(const std::string& cause) noexcept = 0;
  // Says good-bye to all ranks: from then on an ended process is no fault.
  virtual void close() = 0;
  virtual Counters counters() const = 0;
};

}  // namespace bertft
