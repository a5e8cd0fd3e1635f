// How bytes travel between the ranks of a job: sums of ranges of the gradient buffer on independent lanes, a few
// collectives, and the controllers' small messages. No type of MPI, NCCL or a socket appears here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/gradient_buffer.h"
#include "comm/non_finite.h"
#include "comm/shared_memory.h"
#include "comm/wire/wire_map.h"
#include "comm/wire/wire_type.h"

namespace bertft {

// One range to be summed over all ranks. Every rank hands in the same jobs in the same order on the same lane; flags
// alone may differ. An empty range is a job, too: it carries its flags.
struct ReduceJob {
  ElementRange range = {};  // of the attached buffer; begin is a multiple of kAlignmentElements
  WireType wire = WireType::kFp32;
  // fp16 and mixed: the power of two that all values are multiplied with; none: each block by its largest value, so
  // that no finite value overflows. A block with a value that the type cannot hold travels as fp32.
  std::optional<int> scale_exponent = std::nullopt;
  int64_t step = 0;    // for headers and messages
  int unit = -1;       // for messages
  uint32_t flags = 0;  // combined by OR on the way, see all_reduce()
  // For transports that start the sums of all lanes in one order, or combine flags once a step:
  int64_t order = 0;     // counts the jobs of all lanes from 0 without gaps; the same on all ranks
  bool is_last = false;  // of its step, in this order
};

struct ControlMessage {
  int from = 0;
  std::string bytes;
};

// What has left and reached this rank over sockets. `payload` is gradients and texts, `header` everything before them.
struct ChannelCounters {
  int64_t messages_sent = 0, messages_received = 0;
  int64_t payload_sent = 0, payload_received = 0;  // bytes
  int64_t header_sent = 0, header_received = 0;    // bytes
};

struct TransportCounters {
  std::vector<ChannelCounters> lanes;
  ChannelCounters collectives;   // broadcast, all_gather, barrier between nodes
  ChannelCounters control;       // send(), receive(): between all ranks
  int64_t shared_summed = 0;     // bytes of contributions that this rank read and summed in shared memory
  int64_t fp32_blocks = 0;       // blocks sent as fp32 because the 16-bit type could not hold a value
  int64_t closed_strangers = 0;  // connections from outside the job
};

// What a lane (or a collective) waits for at this moment, for reports about stalls.
struct TransportWait {
  int lane = -1;  // -1: a collective
  std::string what;
  int64_t step = 0;
  int unit = -1;
  std::vector<int> ranks;  // that have not come
};

// One per process. Each lane is used by one thread at a time, the collectives by one thread (the compute thread),
// receive() by one; send(), abort(), counters() and waits() by any. Everything that waits throws CommError with the
// first known cause as soon as a peer is lost, leaves without a bye, or aborts.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;
  virtual int node() const = 0;
  virtual int nodes() const = 0;
  virtual std::string description() const = 0;  // for the start-up table

  // Collective, once, before all other collectives, unless the function that made the transport has called it: prepares
  // them. From here on the transport tells and takes announcements, failures and waits, so it can be watched.
  virtual void open() {}

  // Collective, once, before the first job: `buffer` is what all_reduce() sums; it outlives the transport. Returns
  // where the sums stand afterwards: buffer.data(), or the result that the ranks of a node share (to be read; between
  // two steps the first of them may write it, before a node_barrier()). Throws CommError when the ranks' buffers differ
  // in size.
  virtual const void* attach(const GradientBuffer& buffer, WireMap map) = 0;

  virtual int lanes() const = 0;
  // Blocks until the range holds the sum over all ranks, bit-equal on all of them; returns the OR of all flags, the
  // same on every rank. (native: the flag word of a slice is closed once, by its owner. nccl: 0 but for the step's last
  // job, which returns the flags of the whole step.)
  virtual uint32_t all_reduce(int lane, const ReduceJob& job) = 0;

  // post() several jobs on the thread of a lane, then wait_posted(): all are on their way at once.
  virtual bool has_batches() const { return false; }
  // Sums made in between, on the compute thread, where a comm thread would only take its core: post() announces that
  // this rank's contribution is written, progress() sums what all ranks have posted and never waits, wait_posted()
  // blocks until everything posted is summed and returns the OR of all flags since the last such call.
  virtual bool has_inline_sums() const { return false; }
  virtual void post(int lane, const ReduceJob& job) = 0;
  virtual bool progress(int lane) = 0;  // true when nothing that was posted is open
  virtual uint32_t wait_posted(int lane) = 0;

  virtual void broadcast(void* data, size_t bytes, int root) = 0;
  // The byte strings of all ranks, in rank order.
  virtual std::vector<std::string> all_gather(const std::string& mine) = 0;
  virtual void barrier() = 0;
  // Of the ranks that share a result, if there is one.
  virtual void node_barrier() { barrier(); }

  // Collective over the node: zero-filled memory that its ranks share, for words of a controller. Either all ranks of
  // the job get some, also one that is alone on its node, or none does. At most once.
  virtual SharedMemory share_words(size_t /*bytes*/) { return {}; }

  // Small messages of the controllers, in order between any two ranks. send() never waits for the receiver; `to` may be
  // this rank itself. receive() waits at most `timeout_s` (< 0: as long as it takes).
  virtual void send(int to, std::string_view bytes) = 0;
  virtual std::optional<ControlMessage> receive(double timeout_s) = 0;

  // Tells all peers, beside everything else, where this rank is; not counted. Never waits. Any thread.
  virtual void announce(std::string_view status) = 0;
  // What peers announced since the last call, by rank.
  virtual std::vector<ControlMessage> take_announced() = 0;

  // Tells all peers why this rank goes down; every wait of this process ends with that cause, the peers' with it, too.
  virtual void abort(const std::string& cause) noexcept = 0;
  // The first cause, once something failed; "" before.
  virtual std::string failure() const = 0;
  // Says good-bye and waits for every peer's good-bye: after it, an ended connection is no fault. Collective.
  virtual void close() = 0;

  virtual TransportCounters counters() const = 0;
  virtual std::vector<TransportWait> waits() const = 0;
};

}  // namespace bertft
